// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.charttest.ChartInstallation;
import io.dra4j.charttest.HelmChart;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.charttest.Right;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The rights that the charts grant are minimal: without any one of them, something fails. */
@Tag("slow")
@Timeout(120)
class ChartRightsIT {

    /** The abilities that need a right; one for each verb. */
    private static final Map<String, RightsProbe> LOST = Map.ofEntries(
            Map.entry("/nodes get", RightsProbe.PUBLISHES),
            Map.entry("/events create", RightsProbe.REPORTS_EVENTS),
            Map.entry("resource.k8s.io/resourceslices list", RightsProbe.PUBLISHES),
            Map.entry("resource.k8s.io/resourceslices watch", RightsProbe.PUBLISHES),
            Map.entry("resource.k8s.io/resourceslices create", RightsProbe.PUBLISHES),
            Map.entry("resource.k8s.io/resourceslices update", RightsProbe.TAINTS),
            Map.entry("resource.k8s.io/resourceslices delete", RightsProbe.CLEANS_UP),
            Map.entry("resource.k8s.io/resourceclaims get", RightsProbe.PREPARES),
            Map.entry("resource.k8s.io/resourceclaims list", RightsProbe.PREPARES_AFTER_DAMAGE),
            Map.entry("resource.k8s.io/resourceclaims watch", RightsProbe.BINDS),
            Map.entry("resource.k8s.io/resourceclaims/status patch", RightsProbe.REPORTS_STATUS),
            Map.entry("resource.k8s.io/resourceclaims/driver associated-node:patch", RightsProbe.REPORTS_STATUS));

    private static final String STALE_SLICE = """
            apiVersion: resource.k8s.io/v1
            kind: ResourceSlice
            metadata: {name: stale}
            spec:
              driver: gpu.example.com
              nodeName: node-1
              pool: {name: old, generation: 1, resourceSliceCount: 1}
              devices: [{name: old-gpu}]
            """;

    private static final String WAITING_CLAIM = """
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaim
            metadata: {name: waiting, namespace: default}
            spec:
              devices:
                requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]
            status:
              allocation:
                devices:
                  results:
                    - request: gpu
                      driver: gpu.example.com
                      pool: node-1
                      device: gpu-0
                      bindingConditions: [BindingConditions]
                      bindingFailureConditions: [BindingFailureConditions]
            """;

    private static final ObjectMapper YAML = new YAMLMapper();

    @TempDir
    private Path folder;

    private static Manifests manifests() {
        return new HelmChart(Path.of("deploy/helm"))
                .render(ChartInstallation.DEFAULT
                        .set("gpuDeviceStatus", true)
                        .set("kubeletPlugin.bindingConditions", true));
    }

    static Stream<Arguments> rights() {
        return Right.ofTheDriver().stream().map(right -> Arguments.of(right, LOST.get(right.toString())));
    }

    @Test
    void eachRightIsTried() {
        assertThat(Right.ofTheDriver()).extracting(Right::toString).containsExactlyInAnyOrderElementsOf(LOST.keySet());
    }

    @ParameterizedTest
    @EnumSource
    void withAllRightsADriver(RightsProbe probe) throws Exception {
        try (RightsNode node = new RightsNode(manifests(), folder)) {
            probe.begin.run(node);

            node.await(() -> probe.works.at(node));
            assertThat(node.refused()).isEmpty();
        }
    }

    @ParameterizedTest(name = "without {0} no driver {1}")
    @MethodSource("rights")
    void withoutOneNoDriver(Right right, RightsProbe probe) throws Exception {
        Manifests manifests = manifests();
        List<ObjectNode> roles = Stream.of(Kind.ClusterRole, Kind.Role)
                .flatMap(kind -> manifests.of(kind).stream())
                .toList();
        assertThat(right.removeFrom(roles)).isTrue();
        try (RightsNode node = new RightsNode(manifests, folder)) {
            probe.begin.run(node);

            node.await(() -> !node.refused().isEmpty());
            assertThat(node.refused())
                    .contains(asRefused(right))
                    .allMatch(one -> one.split(" ")[0].equals(asRefused(right).split(" ")[0]));
            assertThat(probe.works.at(node)).isFalse();
        }
    }

    /** The refused request is the write of a status, for lack of the driver's own verb. */
    private static String asRefused(Right right) {
        return right.resource().equals("resourceclaims/driver")
                ? "resource.k8s.io/resourceclaims/status patch"
                : right.toString();
    }

    private interface Step {
        void run(RightsNode node) throws Exception;
    }

    private interface Look {
        boolean at(RightsNode node) throws Exception;
    }

    /** An action for which a driver needs rights: how it starts, and whether it succeeded. */
    private enum RightsProbe {
        PUBLISHES(RightsNode::start, node -> !own(node).isEmpty()),
        TAINTS(
                node -> {
                    node.start();
                    node.await(() -> !own(node).isEmpty());
                    Files.writeString(node.faults(), "gpu-0 NoSchedule broken\n");
                },
                node -> own(node).toString().contains("\"taints\"")),
        CLEANS_UP(
                node -> {
                    node.node().api().store().put(YAML.readTree(STALE_SLICE));
                    node.start();
                    node.await(() -> own(node).toString().contains("gpu-0"));
                },
                node -> !own(node).toString().contains("\"stale\"")),
        PREPARES(RightsProbe::prepare, node -> !node.node().specs().isEmpty()),
        PREPARES_AFTER_DAMAGE(
                node -> {
                    Path own =
                            Files.createDirectory(node.node().place().plugins().resolve(RightsNode.DRIVER));
                    Files.writeString(own.resolve("claims.journal"), "no line of a journal\n");
                    prepare(node);
                },
                node -> !node.node().specs().isEmpty()),
        REPORTS_STATUS(RightsProbe::prepare, node -> claims(node).contains("LATEST-GPU-MODEL")),
        BINDS(
                node -> {
                    node.start();
                    node.await(() -> !own(node).isEmpty());
                    node.await(() -> hasWatched(node, 200, 403));
                    node.node().api().store().put(YAML.readTree(WAITING_CLAIM));
                },
                node -> hasWatched(node, 200) && claims(node).contains("Device is ready")),
        REPORTS_EVENTS(
                node -> {
                    node.start();
                    Files.writeString(node.faults(), "gpu-0 broken\n");
                },
                node -> node.node().api().store().list("events").toString().contains("Inventory"));

        private final Step begin;
        private final Look works;

        RightsProbe(Step begin, Look works) {
            this.begin = begin;
            this.works = works;
        }

        private static List<JsonNode> own(RightsNode node) {
            return node.node().api().store().list("resourceslices");
        }

        private static String claims(RightsNode node) {
            return node.node().api().store().list("resourceclaims").toString();
        }

        private static boolean hasWatched(RightsNode node, Integer... answers) {
            return !node.node()
                    .proxy()
                    .requests(request -> request.path().endsWith("/resourceclaims")
                            && request.watch()
                            && List.of(answers).contains(request.status()))
                    .isEmpty();
        }

        /** Prepares a claim; a later check shows whether that was successful. */
        private static void prepare(RightsNode node) throws Exception {
            node.start();
            KubeletClaim claim = node.node().allocate("claim", "gpu-0");
            node.node().prepare(claim);
        }
    }
}
