// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.tree;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.kubectl.Manifests;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class TreeMainTest {

    private static final Path PAGE = Path.of("../../docs-site/how-to/debug-a-pending-claim.md");

    private static final String CLUSTER = Manifests.read("tree/cluster.yaml");

    private static final String NAMESPACE = """
            apiVersion: v1
            kind: Namespace
            metadata: {name: ml, labels: {resource.kubernetes.io/admin-access: "true"}}
            ---
            """;

    @AutoClose
    private EmbeddedApiServer api;

    @TempDir
    private Path folder;

    private void start(KubernetesVersion version, String manifests) {
        api = EmbeddedApiServer.builder()
                .version(version)
                .node("node-a")
                .node("node-b")
                .start();
        ManifestObjects.putText(manifests, api.store());
    }

    private void hold(String name, String pods, String... results) {
        String requests = "{name: r, exactly: {deviceClassName: c, count: %d}}".formatted(results.length);
        ManifestObjects.putText("""
                apiVersion: resource.k8s.io/v1
                kind: ResourceClaim
                metadata: {namespace: ml, name: %s}
                spec: {devices: {requests: [%s]}}
                status:
                  reservedFor: [%s]
                  allocation: {devices: {results: [%s]}}
                """.formatted(name, requests, pods, String.join(", ", results)), api.store());
    }

    private static String pod(String name) {
        return "{resource: pods, name: %s, uid: %s}".formatted(name, name);
    }

    private static String result(String driver, String pool, String device, String more) {
        return "{request: r, driver: %s.example.com, pool: %s, device: %s%s}".formatted(driver, pool, device, more);
    }

    private String run(String... options) throws Exception {
        List<String> args = new ArrayList<>(List.of(options));
        args.add("--kubeconfig=" + api.writeKubeconfig(folder.resolve("kubeconfig")));
        StringWriter out = new StringWriter();
        int status =
                new CommandLine(new TreeMain()).setOut(new PrintWriter(out)).execute(args.toArray(String[]::new));
        assertThat(status).isZero();
        return out.toString();
    }

    private void fill() {
        fill("bandwidth");
    }

    private void fill(String capacity) {
        start(KubernetesVersion.V1_36, NAMESPACE + CLUSTER);
        hold("train", pod("train-0") + "," + pod("train-1"), result("gpu", "node-a", "gpu-0", ""));
        hold("look", pod("monitor"), result("gpu", "node-a", "gpu-0", ", adminAccess: true"));
        hold("unused", "", result("part", "node-b", "half-1", ""));
        String share =
                ", shareID: 5e5f0a52-3c0d-4c7e-9d0c-0f6c2f2f6a11, consumedCapacity: {%s: 30G}".formatted(capacity);
        hold("stream", pod("tv"), result("net", "fabric", "link", share));
    }

    /** A capacity is taken from by both forms of its name. */
    @ParameterizedTest
    @ValueSource(strings = {"bandwidth", "net.example.com/bandwidth"})
    void devicesAreShownByPlaceWithThoseWhoHaveThemAsOnThePage(String capacity) throws Exception {
        fill(capacity);

        assertThat(Files.readString(PAGE))
                .contains("```text\n" + run().replace(capacity + " 30G", "bandwidth 30G") + "```\n");
    }

    @Test
    void aGroupOfPodsIsNoPod() throws Exception {
        start(KubernetesVersion.V1_36, NAMESPACE + CLUSTER);
        String group = "{apiGroup: scheduling.k8s.io, resource: podgroups, name: gang, uid: gang}";
        hold("train", group, result("gpu", "node-a", "gpu-0", ""));

        assertThat(run()).contains("ml/train, a group of pods").doesNotContain("pod gang");
    }

    @Test
    void aDriverOrANodeIsChosen() throws Exception {
        fill();

        assertThat(run("--node=node-b")).startsWith("node-b").doesNotContain("node-a", "fabric");
        assertThat(run("--driver=net.example.com")).startsWith("all nodes");
        assertThat(run("--node=none", "--driver=n")).isEqualTo("There are no devices of driver n and node none\n");
    }

    @Test
    void withoutDevicesTheReasonIsSaid() throws Exception {
        start(KubernetesVersion.V1_36, NAMESPACE);

        assertThat(run()).isEqualTo("There are no devices: no driver has published a ResourceSlice\n");
        assertThat(run("--node=none")).isEqualTo("There are no devices of node none\n");
    }

    @Test
    void toolsGetJson() throws Exception {
        fill();

        JsonNode json = new ObjectMapper().readTree(run("-o", "json"));

        assertThat(json.at("/places/0/node").asText()).isEqualTo("node-a");
        JsonNode pool = json.at("/places/0/pools/0");
        assertThat(pool.at("/used/0/users/0/claim").asText()).isEqualTo("ml/train");
        assertThat(pool.at("/used/0/users/0/pods/1").asText()).isEqualTo("train-1");
        assertThat(pool.at("/used/1/taints/0").asText()).isEqualTo("example.com/broken=ecc:NoSchedule");
        assertThat(pool.at("/free").toString()).isEqualTo("[\"gpu-2\",\"gpu-3\"]");
        assertThat(json.at("/places/1/pools/0/counters/0/left").asText()).isEqualTo("40Gi");
        assertThat(json.at("/places/2/nodes").asText()).isEqualTo("all nodes");
    }

    /** Releases differ in the versions and fields that they serve. */
    @ParameterizedTest
    @EnumSource
    void eachReleaseIsRead(KubernetesVersion release) throws Exception {
        start(release, CLUSTER.split("---", 2)[0]);

        assertThat(run()).startsWith("node-a  (4 devices, 0 in use)");
    }
}
