// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Report;
import io.dra4j.kubectl.read.PodInfo;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** Each planted contradiction is found, once, and a healthy cluster has none. */
class ClusterAuditTest {

    private static final long SEED = Long.getLong("dra4j.seed", 20);
    private static final Path PAGE = Path.of("../../docs-site/how-to/audit-a-node.md");

    private static final Map<String, Planted> PLANTED =
            new TreeMap<>(
                    Map.of(
                            "device-not-published", cluster -> cluster.remove("node-0", "gpu-0"),
                            "device-allocated-twice", cluster -> cluster.hold("node-0", "gpu-0"),
                            "node-gone", cluster -> cluster.nodes.remove("node-0"),
                            "capacity-exceeded", cluster -> cluster.share("60Gi", "60Gi"),
                            "counters-exceeded", cluster -> cluster.counter = "60Gi",
                            "reserved-for-no-pod", cluster -> cluster.pods.remove(0),
                            "pod-not-reserved",
                                    cluster ->
                                            cluster.pods.add(
                                                    new PodInfo(
                                                            "default",
                                                            "late",
                                                            "node-0",
                                                            false,
                                                            List.of("claim-0")))));

    private interface Planted {
        void in(ClusterModel cluster);
    }

    private static Report report(ClusterModel cluster) {
        return Report.of(
                "audit", "cluster", ClusterAudit.of(cluster.snapshot(), () -> cluster.pods));
    }

    @Test
    void healthyClustersHaveNoContradictions() {
        Random seeds = new Random(SEED);
        for (int i = 0; i < 1000; i++) {
            Report report = report(new ClusterModel(new Random(seeds.nextLong())));
            assertThat(report.findings()).as("cluster %s of seed %s", i, SEED).isEmpty();
            assertThat(report.exitStatus()).isEqualTo(Report.HEALTHY);
        }
    }

    static List<String> ids() {
        return List.copyOf(PLANTED.keySet());
    }

    @ParameterizedTest
    @MethodSource("ids")
    void aPlantedContradictionIsFoundOnce(String id) {
        Random seeds = new Random(SEED);
        for (int i = 0; i < 50; i++) {
            ClusterModel cluster = new ClusterModel(new Random(seeds.nextLong()));
            PLANTED.get(id).in(cluster);
            assertThat(report(cluster).findings())
                    .as("cluster %s", i)
                    .extracting(Finding::id)
                    .containsExactly(id);
        }
    }

    @Test
    void allChecksArePlantedAndOnThePage() throws Exception {
        List<String> ids = new ArrayList<>();
        ClusterAudit.of(new ClusterModel(new Random(SEED)).snapshot(), List::of)
                .forEach(check -> ids.add(check.id()));
        assertThat(ids).containsExactlyInAnyOrderElementsOf(PLANTED.keySet());
        assertThat(Files.readString(PAGE))
                .contains(ids.stream().map(id -> "| `" + id + "` | ").toList());
    }

    @Test
    void withoutTheRightToListPodsReservationsAreNotChecked() {
        Report report =
                Report.of(
                        "audit",
                        "cluster",
                        ClusterAudit.of(
                                new ClusterModel(new Random(SEED)).snapshot(),
                                () -> {
                                    throw new NotCheckedException("You may not read pods");
                                }));
        assertThat(report.exitStatus()).isEqualTo(Report.INCOMPLETE);
        assertThat(report.text()).contains("not checked  pod-not-reserved");
    }

    /** The objects of a server, by the command. */
    @Test
    void theCommandReadsTheCluster(@TempDir Path folder) throws Exception {
        try (EmbeddedApiServer api =
                EmbeddedApiServer.builder()
                        .version(KubernetesVersion.V1_36)
                        .node("node-a")
                        .start()) {
            ManifestObjects.putText(
                    """
                    apiVersion: resource.k8s.io/v1
                    kind: ResourceSlice
                    metadata: {name: a}
                    spec:
                      driver: gpu.example.com
                      nodeName: node-a
                      pool: {name: node-a, generation: 2, resourceSliceCount: 1}
                      devices: [{name: gpu-0}]
                    ---
                    apiVersion: resource.k8s.io/v1
                    kind: ResourceClaim
                    metadata: {namespace: default, name: train}
                    spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}
                    status:
                      reservedFor: [{resource: pods, name: train-0, uid: u}]
                      allocation: {devices: {results: [{request: r, driver: gpu.example.com, pool: node-a, device: gpu-1}]}}
                    """,
                    api.store());
            StringWriter out = new StringWriter();

            int status =
                    new CommandLine(new AuditMain())
                            .setOut(new PrintWriter(out))
                            .execute(
                                    "--kubeconfig="
                                            + api.writeKubeconfig(folder.resolve("kubeconfig")));

            assertThat(status).isEqualTo(Report.FOUND);
            String page = Files.readString(PAGE);
            String start = "<!-- kubectl dra audit -->\n```text\n";
            if (Boolean.getBoolean("reference.update")) {
                int from = page.indexOf(start);
                Files.writeString(
                        PAGE,
                        page.substring(0, from)
                                + start
                                + out
                                + page.substring(page.indexOf("```", from + start.length())));
            }
            assertThat(Files.readString(PAGE)).contains(start + out + "```");
        }
    }
}
