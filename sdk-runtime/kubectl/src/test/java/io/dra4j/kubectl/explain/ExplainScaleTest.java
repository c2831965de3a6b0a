// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.kubectl.KubectlDraMain;
import io.dra4j.kubectl.LargeCluster;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pod of a large cluster is explained by a process with little memory. */
class ExplainScaleTest {
    private static final int NODES = 5_000;
    private static final int DEVICES = 8;
    private static final int CLAIMS_OF_NODE = 4;

    @TempDir
    private Path folder;

    @Test
    @Tag("nightly")
    void fiveThousandNodesAreExplainedIn512Megabytes() throws Exception {
        try (EmbeddedApiServer server = EmbeddedApiServer.builder().start()) {
            LargeCluster.put(server.store(), NODES, CLAIMS_OF_NODE, DEVICES / CLAIMS_OF_NODE);
            Path kubeconfig = server.writeKubeconfig(folder.resolve("kubeconfig"));

            long start = System.nanoTime();
            Process process = explain(kubeconfig);
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            int status = process.waitFor();
            Duration time = Duration.ofNanos(System.nanoTime() - start);

            System.out.printf(
                    "explain: %d nodes, %d devices, %d claims: %.1f s%n",
                    NODES, NODES * DEVICES, NODES * CLAIMS_OF_NODE, time.toMillis() / 1000.0);
            assertThat(text)
                    .startsWith("Pod default/train does not fit on any of 5,000 nodes:")
                    .contains("40,000 devices: in use", "and 4,995 more");
            assertThat(status).isEqualTo(1);
        }
    }

    private Process explain(Path kubeconfig) throws Exception {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx512m",
                        "-XX:TieredStopAtLevel=1", // as the script
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        KubectlDraMain.class.getName(),
                        "explain",
                        "pod/train",
                        "--kubeconfig=" + kubeconfig)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }
}
