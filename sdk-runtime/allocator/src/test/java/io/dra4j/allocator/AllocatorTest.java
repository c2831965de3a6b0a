// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static io.dra4j.allocator.Given.devices;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.Node;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The allocator says what stands in the way, and gives up in time. */
class AllocatorTest {
    private static final FeatureGates GATES = new FeatureGates(KubernetesVersion.V1_36, Map.of());
    private static final Allocator ALLOCATOR = Allocator.of(GATES);

    private static Outcome.DoesNotFit refused(Given given) {
        return (Outcome.DoesNotFit) given.allocate(ALLOCATOR);
    }

    /** The texts of obstacles by the names of devices, for the first request. */
    private static Map<String, String> obstacles(Given given) {
        return refused(given).requests().get(0).devices().entrySet().stream()
                .collect(Collectors.toMap(
                        one -> one.getKey().device(), one -> one.getValue().text()));
    }

    @Test
    void capacitiesShowWhatIsLeft() {
        String policy = "requestPolicy: {default: '1Gi', validValues: ['1Gi', '2Gi']}";
        Given given = new Given()
                .devices("""
                                {name: 'a', allowMultipleAllocations: true, capacity: {m: {value: '8Gi'}}},
                                {name: 'b', capacity: {m: {value: '8Gi', %s}}},
                                {name: 'd'}
                                """.formatted(policy))
                .held("a", ", shareID: 'x', consumedCapacity: {m: '6Gi'}")
                .claim("capacity: {requests: {m: '3Gi'}}");

        assertThat(obstacles(given))
                .containsOnly(
                        Map.entry("a", "has 2Gi of m left, and 3Gi is needed; shared by ns/h0"),
                        Map.entry("b", "its request policy does not allow 3Gi of m"),
                        Map.entry("d", "has no capacity m"));
    }

    @Test
    void countersShowWhatIsLeft() {
        String consumes = "consumesCounters: [{counterSet: 's', counters: {m: {value: '3Gi'}}}]";
        Given given = new Given()
                .slice("p", 2, "nodeName: 'n', sharedCounters: [{name: 's', counters: {m: {value: '4Gi'}}}]")
                .slice(
                        "p",
                        2,
                        "nodeName: 'n', devices: [{name: 'a', %s}, {name: 'b', %s}]".formatted(consumes, consumes))
                .held("a", "")
                .claim("");

        assertThat(obstacles(given))
                .containsOnly(
                        Map.entry("a", "in use by ns/h0"),
                        Map.entry("b", "counter m of set s has 1Gi left, and 3Gi is needed; consumed by ns/h0"));
    }

    @Test
    void constraintsShowBothValues() {
        Given given = new Given()
                .devices("{name: 'a', attributes: {x: {int: 1}}}, {name: 'b', attributes: {x: {int: 2}}}, {name: 'd'}")
                .requests(
                        "{name: 'r', exactly: {deviceClassName: 'c', count: 2}}", "{matchAttribute: 'drv.example/x'}");

        assertThat(obstacles(given))
                .containsOnly(
                        Map.entry("b", "has 2, and the claim's others 1: constraint matchAttribute drv.example/x"),
                        Map.entry("d", "has no attribute for constraint matchAttribute drv.example/x"));
        assertThat(refused(given).requests().get(0).most()).isEqualTo(1);
    }

    private static Given twoRequests(String devices) {
        return new Given().devices(devices).requests("""
                        {name: 'q', exactly: {deviceClassName: 'c', tolerations: [{operator: 'Exists'}]}},
                        {name: 'r', exactly: {deviceClassName: 'c'}}
                        """, "");
    }

    @Test
    void aDeviceMayBeNeededForAnotherRequest() {
        Map<DeviceId, Obstacle> devices =
                refused(twoRequests("{name: 'a'}")).requests().get(1).devices();

        assertThat(devices.values()).extracting(Obstacle::text).containsExactly("needed for request q of claim ns/c0");
    }

    @Test
    void anotherReasonCountsMoreThanThatADeviceWasPicked() {
        String taint = "taints: [{key: 'k', effect: 'NoExecute'}]";
        Given given = twoRequests("{name: 'a', %s}, {name: 'b', %s}".formatted(taint, taint));

        assertThat(refused(given).requests().get(1).devices().values())
                .extracting(Obstacle::check)
                .containsExactly(Obstacle.Check.TAINT, Obstacle.Check.TAINT);
    }

    @Test
    void poolsThatAreNotUsedHaveAReason() {
        Given given = new Given()
                .slice("lacking", 2, "nodeName: 'n', devices: []")
                .slice("elsewhere", 1, "nodeName: 'm', devices: []")
                .slice("empty", 1, "nodeName: 'n', devices: []")
                .slice("double", 1, "nodeName: 'n', devices: [{name: 'a'}, {name: 'a'}]")
                .claim("");

        assertThat(refused(given).pools())
                .extracting(one -> one.pool().pool() + " " + one.problem())
                .containsExactly(
                        "double is invalid: duplicate device name a", "lacking is being updated: it has 1 of 2 slices");
        assertThat(refused(given).poolsOfOtherNodes()).isEqualTo(1);
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
    void aLaterClaimMayChangeWhatAnEarlierOneGets() {
        Given given = new Given()
                .devices("{name: 'a', attributes: {x: {int: 1}}}, {name: 'b'}")
                .claim("")
                .claim("selectors: [{cel: {expression: '\"x\" in device.attributes[\"drv.example\"]'}}]");

        assertThat(devices(given.allocate(ALLOCATOR))).containsExactly("b", "a");
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
    void theWrongClassAndModeAreErrors() {
        assertThat(new Given()
                        .requests("{name: 'r', exactly: {deviceClassName: 'x'}}", "")
                        .allocate(ALLOCATOR))
                .isEqualTo(new Outcome.Failed(
                        "claim ns/c0, request r: could not retrieve device class x: deviceclasses \"x\" not found"));
        assertThat(new Given().claim("allocationMode: 'Some'").allocate(ALLOCATOR))
                .isEqualTo(new Outcome.Failed("claim ns/c0, request r: unsupported count mode Some"));
        assertThat(new Given().claim("count: 33").allocate(ALLOCATOR))
                .isEqualTo(new Outcome.Failed(
                        "claim ns/c0: number of requested devices 33 exceeds the claim limit of 32"));
        assertThat(new Given()
                        .devices("{name: 'a'}")
                        .claim("selectors: [{cel: {expression: '1 +'}}]")
                        .allocate(ALLOCATOR))
                .isInstanceOfSatisfying(
                        Outcome.Failed.class,
                        failed -> assertThat(failed.message())
                                .startsWith("claim ns/c0: selector #0: CEL compile error: compilation failed"));
    }
}
