// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.kubectl.KubectlDraMain;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pod of a large cluster is explained by a process with little memory. */
class ExplainScaleTest {
    private static final int NODES = 5_000;
    private static final int DEVICES = 8;
    private static final int CLAIMS_OF_NODE = 4;

    private static final JsonMapper JSON = new JsonMapper();
    private static final String DEVICE = """
            {"name": "gpu-%d",
             "attributes": {"uuid": {"string": "GPU-%s-%d"}, "model": {"string": "a100"},
                            "version": {"version": "1.2.3"}, "numa": {"int": 1}},
             "capacity": {"memory": {"value": "40Gi"}}}
            """;
    private static final String SLICE = """
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
             "metadata": {"name": "%s-gpu"},
             "spec": {"driver": "gpu.example.com", "nodeName": "%s",
                      "pool": {"name": "%s", "generation": 1, "resourceSliceCount": 1},
                      "devices": [%s]}}
            """;
    private static final String CLAIM = """
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
             "metadata": {"namespace": "ml", "name": "%s-%d"},
             "spec": {"devices": {"requests": [
                 {"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": 2}}]}},
             "status": {
                 "allocation": {"devices": {"results": [
                     {"request": "gpu", "driver": "gpu.example.com", "pool": "%s",
                      "device": "gpu-%d"},
                     {"request": "gpu", "driver": "gpu.example.com", "pool": "%s",
                      "device": "gpu-%d"}]}},
                 "reservedFor": [{"resource": "pods", "name": "%s-%d", "uid": "1"}]}}
            """;

    @TempDir
    private Path folder;

    @Test
    @Tag("nightly")
    void fiveThousandNodesAreExplainedIn512Megabytes() throws Exception {
        try (EmbeddedApiServer server = EmbeddedApiServer.builder().start()) {
            ManifestObjects.putText("""
                    {apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu},
                     spec: {selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]}}
                    ---
                    {apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: train},
                     spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
                    ---
                    {apiVersion: v1, kind: Pod, metadata: {name: train},
                     spec: {resourceClaims: [{name: gpu, resourceClaimName: train}],
                            containers: [{name: main, image: registry.example/train}]}}
                    """, server.store());
            IntStream.range(0, NODES).forEach(i -> putNode(server.store(), "node-" + i));
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

    /** A node with its slice, and the claims that have all its devices, two each. */
    private static void putNode(ClusterObjects objects, String node) {
        put(objects, "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"%s\"}}", node);
        String devices = IntStream.range(0, DEVICES)
                .mapToObj(i -> DEVICE.formatted(i, node, i))
                .collect(Collectors.joining(","));
        put(objects, SLICE, node, node, node, devices);
        for (int i = 0; i < CLAIMS_OF_NODE; i++) {
            put(objects, CLAIM, node, i, node, 2 * i, node, 2 * i + 1, node, i);
        }
    }

    private static void put(ClusterObjects objects, String json, Object... values) {
        try {
            objects.put(JSON.readTree(json.formatted(values)));
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }
}
