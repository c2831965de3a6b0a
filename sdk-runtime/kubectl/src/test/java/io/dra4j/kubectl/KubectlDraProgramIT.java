// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The plugin as it is installed: the script beside the jar, from which classes were left out. */
class KubectlDraProgramIT {

    @Test
    void showsTheDevicesOfACluster(@TempDir Path folder) throws Exception {
        Path script = Files.copy(Path.of("bin/kubectl-dra"), folder.resolve("kubectl-dra"));
        Files.createSymbolicLink(
                folder.resolve("kubectl-dra.jar"),
                Path.of("target/kubectl-dra.jar").toAbsolutePath());
        try (EmbeddedApiServer server = EmbeddedApiServer.builder().start()) {
            ManifestObjects.putText("""
                    {apiVersion: v1, kind: Node, metadata: {name: worker-1}}
                    ---
                    {apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: worker-1-gpu},
                     spec: {driver: gpu.example.com, nodeName: worker-1,
                            pool: {name: worker-1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0}]}}
                    """, server.store());
            Ended tree = Ended.of(
                    Map.of("JAVA_HOME", System.getProperty("java.home")),
                    List.of(script.toString(), "tree"),
                    "--kubeconfig=" + server.writeKubeconfig(folder.resolve("kubeconfig")));

            assertThat(tree.printed()).contains("worker-1", "gpu-0");
        }
    }
}
