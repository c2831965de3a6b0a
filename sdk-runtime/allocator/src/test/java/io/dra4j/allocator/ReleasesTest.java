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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Releases, gates and bugs decide differently. */
class ReleasesTest {

    @TestFactory
    List<DynamicTest> decideDifferently() throws IOException {
        return GivenCases.of("releases.json5");
    }

    @Test
    void gatesWithUnknownRulesAreRefused() {
        FeatureGates gates =
                new FeatureGates(KubernetesVersion.V1_37, Map.of(FeatureGate.DRA_DERIVED_ATTRIBUTES, true));

        assertThatThrownBy(() -> Allocator.of(gates))
                .hasMessage("The allocator does not know the rules of feature gate DRADerivedAttributes; leave it off");
    }
}
