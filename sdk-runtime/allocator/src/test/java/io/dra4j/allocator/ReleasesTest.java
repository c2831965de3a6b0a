// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Releases, gates and bugs decide differently. */
class ReleasesTest {

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
}
