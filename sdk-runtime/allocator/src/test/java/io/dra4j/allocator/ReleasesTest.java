// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Releases, gates and bugs decide differently. */
class ReleasesTest {

    @TestFactory
    List<DynamicTest> decideDifferently() throws IOException {
        return GivenCases.of("releases.json5");
    }

    @ParameterizedTest
    @EnumSource(names = {"DRA_DERIVED_ATTRIBUTES", "DRA_SHARED_CONSUMABLE_CAPACITY"})
    void gatesWithUnknownRulesAreRefused(FeatureGate gate) {
        FeatureGates gates = new FeatureGates(KubernetesVersion.V1_38, Map.of(gate, true));

        assertThatThrownBy(() -> Allocator.of(gates))
                .hasMessage("The allocator does not know the rules of feature gate %s; leave it off", gate.text());
    }
}
