// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.charttest.HelmChart;
import io.dra4j.charttest.Installation;
import io.dra4j.charttest.Manifests;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.charttest.Right;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.rbac.ApiAction;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The rights that the charts grant are the least: without each of them, something fails. */
@Tag("slow")
@Timeout(120)
class ChartRightsIT {

    /** The abilities that a right is needed for; one for each verb. */
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

    /** Forbidden, and invalid for want of a verb that the validation asks for. */
    private static final Set<Integer> REFUSED = Set.of(403, 422);

    @TempDir
    private Path folder;

    private static Manifests manifests() {
        return new HelmChart(Path.of("deploy/helm"))
                .render(Installation.DEFAULT.set("gpuDeviceStatus", true).set("kubeletPlugin.bindingConditions", true));
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
            probe.begin(node);

            node.await(() -> probe.works(node));
            assertThat(refused(node.node())).isEmpty();
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
            probe.begin(node);

            node.await(() -> !refused(node.node()).isEmpty());
            assertThat(refused(node.node()))
                    .contains(asRefused(right))
                    .allMatch(one -> one.split(" ")[0].equals(asRefused(right).split(" ")[0]));
            assertThat(probe.works(node)).isFalse();
        }
    }

    /** The write of a status is what is refused for lack of the driver's own verb. */
    private static String asRefused(Right right) {
        return right.resource().equals("resourceclaims/driver")
                ? "resource.k8s.io/resourceclaims/status patch"
                : right.toString();
    }

    private static List<String> refused(TestNode node) {
        return node.proxy().requests(request -> REFUSED.contains(request.status())).stream()
                .map(request -> ApiAction.of(request.method(), request.path(), request.query()))
                .map(action -> action.group() + "/" + action.resource() + " " + action.verb())
                .distinct()
                .toList();
    }
}
