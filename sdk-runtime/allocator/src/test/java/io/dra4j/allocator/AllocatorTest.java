// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static io.dra4j.allocator.SchedulerBug.COUNTER_LEAK;
import static io.dra4j.rules.KubernetesVersion.V1_36;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.Node;
import io.dra4j.allocator.model.Slice;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The allocator names the obstacles, gives up in time, and decides as its release, its gates and its bugs say. */
class AllocatorTest {

    private static final FeatureGates GATES = new FeatureGates(KubernetesVersion.V1_36, Map.of());
    private static final Allocator ALLOCATOR = Allocator.of(GATES);

    private static Outcome.DoesNotFit refused(Given given) {
        return (Outcome.DoesNotFit) given.allocate(ALLOCATOR);
    }

    @TestFactory
    List<DynamicTest> namesTheObstacles() throws IOException {
        return GivenCases.of("obstacles.json5");
    }

    @Test
    void anOldGenerationIsNotUsedWhileANewOneComes() {
        Given given = new Given()
                .slice("p", 2, "nodeName: 'n', devices: [{name: 'a'}]")
                .slice("p", 1, "nodeName: 'm', pool: {name: 'p', generation: 2, resourceSliceCount: 1}")
                .claim("");

        assertThat(refused(given).pools())
                .singleElement()
                .extracting(PoolObstacle::problem)
                .isEqualTo("is being replaced by a newer generation");
    }

    @Test
    void theSearchEndsAtItsTimeLimit() {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 30; i++) {
            all.append("{name: 'd%d', attributes: {x: {int: %d}}},".formatted(i, i / 15));
        }
        Given given = new Given().devices(all.toString());
        given.requests("{name: 'r', exactly: {deviceClassName: 'c', count: 16}}", "{matchAttribute: 'drv.example/x'}");
        Allocator slow = Allocator.of(GATES, Set.of(), new StepClock()).withTimeLimit(Duration.ofMillis(20));

        assertThat(slow.allocate(given.cluster(), new Node("n", Map.of()), given.claims()))
                .isEqualTo(new Outcome.Failed("node n: timed out trying to allocate devices"));
    }

    @Test
    void nothingIsAllocatedToNoClaims() {
        assertThat(ALLOCATOR.allocate(new Given().cluster(), Given.NODE, List.of()))
                .isEqualTo(new Outcome.Allocated(List.of()));
    }

    @Test
    void anExpressionThatDoesNotCompileIsAnError() {
        Given given = new Given().devices("{name: 'a'}").claim("selectors: [{cel: {expression: '1 +'}}]");

        assertThat(((Outcome.Failed) given.allocate(ALLOCATOR)).message())
                .startsWith("claim ns/c0: selector #0: CEL compile error: compilation failed");
    }

    @TestFactory
    List<DynamicTest> decideDifferently() throws IOException {
        return GivenCases.of("releases.json5");
    }

    /** #142202 concerns more than the search. */
    @ParameterizedTest
    @CsvSource({"V1_37, 40Gi", "V1_38, 16Gi"})
    void aDeviceThatIsChosenWithoutASearchHasTheNamesOfItsRelease(KubernetesVersion release, String amount) {
        Claim claim = Claim.of(
                Given.json(
                        "{metadata: {name: 'c'}, spec: {devices: {requests: [{name: 'r', exactly: {deviceClassName: 'c', capacity: {requests: {'d.example/memory': '16Gi'}}}}]}}}"));
        Device device = Device.of(
                Given.json("{name: 'd', allowMultipleAllocations: true, capacity: {memory: {value: '40Gi'}}}"));
        FeatureGates gates = new FeatureGates(release, Map.of());

        assertThat(AllocatedDevice.chosen(gates, claim, "r", new DeviceId("d.example", "p", "d"), device)
                        .consumedCapacity())
                .hasToString("{memory=" + amount + "}");
    }

    @ParameterizedTest
    @EnumSource(names = {"DRA_DERIVED_ATTRIBUTES", "DRA_SHARED_CONSUMABLE_CAPACITY"})
    void gatesWithUnknownRulesAreRefused(FeatureGate gate) {
        FeatureGates gates = new FeatureGates(KubernetesVersion.V1_38, Map.of(gate, true));

        assertThatThrownBy(() -> Allocator.of(gates))
                .hasMessage("The allocator does not support feature gate %s; leave it off", gate.text());
    }

    @ParameterizedTest
    @CsvSource({
        "v1.36.0, true",
        "v1.36.2, true",
        "1.36.2+k3s1, true",
        "v1.36.3, false",
        "v1.36.10-gke.100, false",
        "v2.0.0, false",
        "'', true",
        "custom, true"
    })
    void aServersPatchReleaseDecidesWhetherItHasABug(String server, boolean has) {
        assertThat(SchedulerBug.of(V1_36, server).contains(COUNTER_LEAK)).isEqualTo(has);
    }

    @Nested
    class OfANode {

        private static final Node A = new Node("a", Map.of("zone", "1"));
        private static final Node B = new Node("b", Map.of("zone", "2"));

        private static Slice slice(String name, String node, int count, String rest) {
            return Slice.of(Given.json("""
                        {metadata: {name: '%s'},
                         spec: {driver: 'd.example.com', %s,
                                pool: {name: '%s', generation: 1, resourceSliceCount: %d}, %s}}
                        """.formatted(name, node, name.split("-")[0], count, rest)));
        }

        private static Claim claim(String name, String mode, String pool) {
            String results = pool.isEmpty()
                    ? ""
                    : "{request: 'r', driver: 'd.example.com', pool: '%s', device: 'x'}".formatted(pool);
            return Claim.of(Given.json("""
                        {metadata: {name: '%s', namespace: 'n'},
                         spec: {devices: {requests: [
                             {name: 'r', exactly: {deviceClassName: 'c', allocationMode: '%s'}}]}},
                         status: {allocation: {devices: {results: [%s]}}}}
                        """.formatted(name, mode, results)));
        }

        private static ClusterState cluster(List<Slice> slices, Claim... claims) {
            return new ClusterState(List.of(new DeviceClass("c", List.of())), slices, List.of(claims), List.of());
        }

        @Test
        void aViewHasThePoolsOfItsNodeAndThoseOfManyWithTheirHolders() {
            Slice ofA = slice("pa", "nodeName: 'a'", 1, "devices: [{name: 'x'}]");
            Slice ofB = slice("pb", "nodeName: 'b'", 1, "devices: [{name: 'x'}]");
            Slice ofAll = slice("pc", "allNodes: true", 1, "devices: [{name: 'x'}]");
            NodeViews views = new NodeViews(cluster(
                    List.of(ofA, ofB, ofAll), claim("ha", "ExactCount", "pa"), claim("hb", "ExactCount", "pb")));

            assertThat(views.of(A).slices()).containsExactly(ofA, ofAll);
            assertThat(views.of(A).claims()).extracting(Claim::name).containsExactly("ha");
            assertThat(views.of(B).slices()).containsExactly(ofB, ofAll);
            assertThat(views.of(new Node("c", Map.of())).slices()).containsExactly(ofAll);
        }

        /** In 1.35 and 1.36 a request for all devices fails everywhere for such a pool. */
        @ParameterizedTest
        @EnumSource(KubernetesVersion.class)
        void anIncompletePoolWithCountersOfAnotherNodeDecidesAsInTheCluster(KubernetesVersion version) {
            Slice ofA = slice("pa", "nodeName: 'a'", 1, "devices: [{name: 'x'}]");
            Slice counters = slice(
                    "pb-counters", "nodeName: 'b'", 2, "sharedCounters: [{name: 's', counters: {m: {value: '1'}}}]");
            ClusterState cluster = cluster(List.of(ofA, counters));
            List<Claim> all = List.of(claim("wanted", "All", ""));
            Allocator allocator = Allocator.asReleased(new FeatureGates(version, Map.of()));

            Outcome ofView = allocator.allocate(new NodeViews(cluster).of(A), A, all);

            assertThat(ofView).isEqualTo(allocator.allocate(cluster, A, all));
            assertThat(ofView instanceof Outcome.Failed).isEqualTo(version == KubernetesVersion.V1_36);
        }
    }
}
