// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static io.dra4j.allocator.Given.devices;
import static io.dra4j.rules.KubernetesVersion.V1_34;
import static io.dra4j.rules.KubernetesVersion.V1_35;
import static io.dra4j.rules.KubernetesVersion.V1_36;
import static io.dra4j.rules.KubernetesVersion.V1_37;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.TaintRule;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Releases, gates and bugs decide differently. */
class ReleasesTest {

    private static FeatureGates gates(KubernetesVersion version, FeatureGate... on) {
        return new FeatureGates(version, Arrays.stream(on).collect(Collectors.toMap(gate -> gate, gate -> true)));
    }

    private static Allocator in(KubernetesVersion version, FeatureGate... on) {
        return Allocator.of(gates(version, on));
    }

    private static Allocator released(KubernetesVersion version, FeatureGate... on) {
        return Allocator.asReleased(gates(version, on));
    }

    @Test
    void only134UsesPoolsThatLackSlices() {
        Given given = new Given()
                .slice("p", 2, "nodeName: 'n', devices: [{name: 'd'}]")
                .claim("");

        assertThat(devices(given.allocate(in(V1_34)))).containsExactly("d");
        assertThat(given.allocate(in(V1_35))).isInstanceOfSatisfying(Outcome.DoesNotFit.class, outcome -> {
            assertThat(outcome.message()).isEqualTo("cannot allocate all claims");
            assertThat(outcome.pools())
                    .singleElement()
                    .extracting(PoolObstacle::problem)
                    .isEqualTo("is being updated: it has 1 of 2 slices");
        });
    }

    @Test
    void invalidPoolsEndTheAttemptIn134Alone() {
        Given given = new Given().devices("{name: 'd'}, {name: 'd'}").claim("");

        assertThat(given.allocate(in(V1_34)))
                .isEqualTo(new Outcome.Failed("pool p is invalid: duplicate device name d"));
        assertThat(given.allocate(in(V1_36)))
                .isInstanceOfSatisfying(
                        Outcome.DoesNotFit.class,
                        outcome -> assertThat(outcome.message()).isEqualTo("invalid resource pools were encountered"));
        given.slice("q", 1, "nodeName: 'n', devices: [{name: 'e'}]");
        assertThat(devices(given.allocate(in(V1_36)))).containsExactly("e");
    }

    @Test
    void taintsWithoutEffectCountIn134Alone() {
        Given given = new Given()
                .devices("{name: 'd', taints: [{key: 'k', effect: 'None'}]}")
                .claim("");

        assertThat(devices(given.allocate(in(V1_34, FeatureGate.DRA_DEVICE_TAINTS))))
                .isEmpty();
        assertThat(devices(given.allocate(in(V1_35, FeatureGate.DRA_DEVICE_TAINTS))))
                .containsExactly("d");
    }

    @Test
    void oneRequestGetsSeveralSharesBefore136() {
        Given given = new Given()
                .devices("{name: 'd', allowMultipleAllocations: true}")
                .claim("count: 2");

        assertThat(devices(given.allocate(in(V1_35, FeatureGate.DRA_CONSUMABLE_CAPACITY))))
                .containsExactly("d", "d");
        assertThat(devices(given.allocate(in(V1_36)))).isEmpty();
    }

    @Test
    void countersAreInTheSliceOfTheirDevicesIn134() {
        Given given = new Given().slice("p", 1, """
                                nodeName: 'n',
                                sharedCounters: [{name: 's', counters: {m: {value: 1}}}],
                                devices: [
                                  {name: 'd', consumesCounters: [{counterSet: 's', counters: {m: {value: 1}}}]},
                                  {name: 'e', consumesCounters: [{counterSet: 's', counters: {m: {value: 1}}}]}]
                                """).claim("");
        Allocator in134 = in(V1_34, FeatureGate.DRA_PARTITIONABLE_DEVICES);

        assertThat(devices(given.allocate(in134))).containsExactly("d");
        assertThat(devices(given.claim("").allocate(in134))).isEmpty();
    }

    @Test
    void countersOfOtherNodesStopRequestsForAllUntil137() {
        Given given = new Given()
                .devices("{name: 'd'}")
                .slice("q", 2, "nodeName: 'm', sharedCounters: [{name: 's', counters: {}}]")
                .claim("allocationMode: 'All'");

        assertThat(given.allocate(in(V1_36)))
                .isEqualTo(
                        new Outcome.Failed(
                                "claim ns/c0, request r: asks for all devices, but resource pool drv.example/q is currently being updated"));
        assertThat(devices(given.allocate(in(V1_37)))).containsExactly("d");
    }

    @Test
    void allMeansThoseWithCapacityLeftUntil137() {
        String shared = "allowMultipleAllocations: true, capacity: {m: {value: '2Gi'}}";
        Given given = new Given()
                .devices("{name: 'd', %s}, {name: 'e', %s}".formatted(shared, shared))
                .held("d", ", shareID: 'x', consumedCapacity: {m: '2Gi'}")
                .claim("allocationMode: 'All', capacity: {requests: {m: '1Gi'}}");

        assertThat(devices(given.allocate(in(V1_36)))).containsExactly("e");
        assertThat(devices(given.allocate(in(V1_37)))).isEmpty();
    }

    @Test
    void stepsAreThousandthsFrom137On() {
        Given given = new Given().devices("""
                                {name: 'd', allowMultipleAllocations: true, capacity: {m: {value: '10',
                                 requestPolicy: {default: '1', validRange: {min: '500m', step: '250m'}}}}}
                                """).claim("capacity: {requests: {m: '600m'}}");

        assertThat(amount(given.allocate(in(V1_36)))).isEqualTo("1");
        assertThat(amount(given.allocate(in(V1_37)))).isEqualTo("750m");
    }

    private static String amount(Outcome outcome) {
        Outcome.Allocated allocated = (Outcome.Allocated) outcome;
        AllocatedDevice device = allocated.allocations().get(0).results().get(0);
        return device.consumedCapacity().getOrDefault("m", Quantity.ZERO).toString();
    }

    private static Given colours(String... colours) {
        List<String> devices = new ArrayList<>();
        for (String colour : colours) {
            devices.add("{name: 'd%d', attributes: {colour: %s}}".formatted(devices.size(), colour));
        }
        return new Given().devices(String.join(", ", devices));
    }

    @Test
    void distinctForgetsValuesOfTheSameRequestUntil137() {
        Given given = colours("{string: 'red'}", "{string: 'blue'}", "{string: 'red'}")
                .requests(
                        "{name: 'r', exactly: {deviceClassName: 'c', count: 3}}",
                        "{distinctAttribute: 'drv.example/colour'}");

        assertThat(devices(given.allocate(released(V1_36)))).containsExactly("d0", "d1", "d2");
        assertThat(devices(given.allocate(in(V1_36)))).isEmpty();
        assertThat(devices(given.allocate(released(V1_37)))).isEmpty();
    }

    @Test
    void distinctKeepsOnlySharesApartIn134() {
        Given given = colours("{string: 'red'}", "{string: 'red'}")
                .requests(
                        "{name: 'r', exactly: {deviceClassName: 'c', count: 2}}",
                        "{distinctAttribute: 'drv.example/colour'}");
        FeatureGate gate = FeatureGate.DRA_CONSUMABLE_CAPACITY;

        assertThat(devices(given.allocate(released(V1_34, gate)))).containsExactly("d0", "d1");
        assertThat(devices(given.allocate(in(V1_34, gate)))).isEmpty();
        assertThat(given.allocate(in(V1_34)))
                .isEqualTo(new Outcome.Failed(
                        "claim ns/c0, constraint #0: empty constraint (unsupported constraint type?)"));
    }

    @Test
    void listsMatchIfAllHaveAValueInCommon() {
        Given given = colours(
                        "{strings: ['red', 'blue']}",
                        "{strings: ['red', 'green']}",
                        "{strings: ['blue', 'green']}",
                        "{string: 'red'}")
                .requests(
                        "{name: 'r', exactly: {deviceClassName: 'c', count: 3}}",
                        "{matchAttribute: 'drv.example/colour'}");
        FeatureGate gate = FeatureGate.DRA_LIST_TYPE_ATTRIBUTES;

        assertThat(devices(given.allocate(in(V1_36, gate)))).containsExactly("d0", "d1", "d3");
        assertThat(devices(given.allocate(in(V1_37, gate)))).containsExactly("d0", "d1", "d3");
        assertThat(devices(given.allocate(in(V1_37)))).isEmpty();
    }

    @Test
    void countersLeakWhereATaintRefusesTheDeviceThatWasCharged() {
        Given given = new Given()
                .slice("p", 2, "nodeName: 'n', sharedCounters: [{name: 's', counters: {m: {value: 1}}}]")
                .slice("p", 2, """
                                nodeName: 'n', devices: [
                                  {name: 'd', taints: [{key: 'k', effect: 'NoSchedule'}],
                                   consumesCounters: [{counterSet: 's', counters: {m: {value: 1}}}]},
                                  {name: 'e',
                                   consumesCounters: [{counterSet: 's', counters: {m: {value: 1}}}]}]
                                """)
                .claim("");

        assertThat(devices(given.allocate(released(V1_36)))).isEmpty();
        assertThat(devices(given.allocate(in(V1_36)))).containsExactly("e");
        assertThat(devices(given.allocate(released(V1_37)))).containsExactly("e");
    }

    @Test
    void countersOfPoolsWithOneNameAreMixedUntil137() {
        String counters = "nodeName: 'n', sharedCounters: [{name: 's', counters: {m: {value: %d}}}]";
        String device =
                "nodeName: 'n', devices: [{name: '%s', consumesCounters: [{counterSet: 's', counters: {m: {value: 2}}}]}]";
        Given given = new Given()
                .slice("a.example", "p", 2, counters.formatted(1))
                .slice("a.example", "p", 2, device.formatted("d"))
                .slice("b.example", "p", 2, counters.formatted(2))
                .slice("b.example", "p", 2, device.formatted("e"))
                .claim("");

        assertThat(devices(given.allocate(released(V1_36)))).isEmpty();
        assertThat(devices(given.allocate(in(V1_36)))).containsExactly("e");
        assertThat(devices(given.allocate(released(V1_37)))).containsExactly("e");
    }

    @Test
    void devicesThatAreBoundLaterNeedTheirGate() {
        Given given =
                new Given().devices("{name: 'd', bindingConditions: ['x']}").claim("");

        assertThat(devices(given.allocate(in(V1_35)))).isEmpty();
        assertThat(devices(given.allocate(in(V1_36)))).containsExactly("d");
    }

    @Test
    void rulesTaintDevicesWhereTheirGateIsOn() {
        Given given = new Given().devices("{name: 'd'}, {name: 'e'}").claim("");
        TaintRule rule = TaintRule.of(
                Given.json(
                        "{metadata: {name: 'x'}, spec: {deviceSelector: {driver: 'drv.example', device: 'd'}, taint: {key: 'k', effect: 'NoExecute'}}}"));
        Cluster cluster = new Cluster(given.cluster().classes(), given.cluster().slices(), List.of(), List.of(rule));

        assertThat(devices(in(V1_36).allocate(cluster, Given.NODE, given.claims())))
                .containsExactly("d");
        assertThat(devices(in(V1_37).allocate(cluster, Given.NODE, given.claims())))
                .containsExactly("e");
    }

    @ParameterizedTest
    @CsvSource({"'', true, false", "'deviceSelector: {}, ', true, true"})
    void aRuleWithoutASelectorTaintsAsReleasedAlone(String selector, boolean asReleased, boolean byTheRules) {
        Given given = new Given().devices("{name: 'd'}").claim("");
        TaintRule rule = TaintRule.of(Given.json(
                "{metadata: {name: 'x'}, spec: {%staint: {key: 'k', effect: 'NoExecute'}}}".formatted(selector)));
        Cluster cluster = new Cluster(given.cluster().classes(), given.cluster().slices(), List.of(), List.of(rule));

        assertThat(devices(released(V1_37).allocate(cluster, Given.NODE, given.claims()))
                        .isEmpty())
                .isEqualTo(asReleased);
        assertThat(devices(in(V1_37).allocate(cluster, Given.NODE, given.claims()))
                        .isEmpty())
                .isEqualTo(byTheRules);
    }

    @Test
    void slicesWithCompatibilityGroupsAreLeftOutFrom137On() {
        Given given = new Given()
                .devices("{name: 'd', consumesCounters: [{compatibilityGroups: ['g']}]}")
                .claim("");

        assertThat(pools(given.allocate(in(V1_37)))).containsExactly("needs feature gate DRADeviceCompatibilityGroups");
    }

    @Test
    void partitionsNeedTheirGate() {
        Given given = new Given()
                .slice("p", 1, "perDeviceNodeSelection: true, devices: [{name: 'd', nodeName: 'n'}]")
                .claim("");

        assertThat(pools(given.allocate(in(V1_35)))).containsExactly("needs feature gate DRAPartitionableDevices");
        assertThat(devices(given.allocate(in(V1_36)))).containsExactly("d");
    }

    private static List<String> pools(Outcome outcome) {
        return ((Outcome.DoesNotFit) outcome)
                .pools().stream().map(PoolObstacle::problem).toList();
    }

    @Test
    void whatNeedsAGateThatIsOffIsAnError() {
        assertThat(new Given().devices("").claim("capacity: {requests: {m: 1}}").allocate(in(V1_35)))
                .isEqualTo(
                        new Outcome.Failed(
                                "claim ns/c0, request r: has capacity requests, but the DRAConsumableCapacity feature is disabled"));
        Allocator without = Allocator.of(new FeatureGates(V1_34, Map.of(FeatureGate.DRA_PRIORITIZED_LIST, false)));
        assertThat(new Given()
                        .requests("{name: 'r', firstAvailable: [{name: 's', deviceClassName: 'c'}]}", "")
                        .allocate(without))
                .isEqualTo(new Outcome.Failed(
                        "claim ns/c0, request r: has subrequests, but the DRAPrioritizedList feature is disabled"));
    }

    @Test
    void errorsOfExpressionsNameTheDeviceFrom137On() {
        Given given = new Given()
                .devices("{name: 'd'}")
                .claim("selectors: [{cel: {expression: 'device.attributes[\"x\"].y == 1'}}]");

        assertThat(given.allocate(in(V1_36)))
                .isEqualTo(new Outcome.Failed("claim ns/c0: selector #0: CEL runtime error: no such key: y"));
        assertThat(given.allocate(in(V1_37)))
                .isEqualTo(new Outcome.Failed(
                        "claim ns/c0: selector #0 on device drv.example/p/d: CEL runtime error: no such key: y"));
    }

    @Test
    void gatesWithUnknownRulesAreRefused() {
        FeatureGate gate = FeatureGate.DRA_DERIVED_ATTRIBUTES;

        assertThatThrownBy(() -> in(V1_37, gate))
                .hasMessage("The allocator does not know the rules of feature gate DRADerivedAttributes; leave it off");
    }

    @ParameterizedTest
    @EnumSource(KubernetesVersion.class)
    void eachReleaseAllocatesTheFirstDevice(KubernetesVersion version) {
        Given given = new Given().devices("{name: 'd'}, {name: 'e'}").claim("");

        assertThat(devices(given.allocate(released(version)))).containsExactly("d");
    }
}
