// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import static io.dra4j.rules.KubernetesVersion.V1_34;
import static io.dra4j.rules.KubernetesVersion.V1_36;
import static io.dra4j.rules.KubernetesVersion.V1_37;
import static io.dra4j.rules.KubernetesVersion.V1_38;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The gates that a release has, and can be switched. */
class FeatureGatesTest {
    @Test
    void aGateCanOnlyBeSetWhereItExists() {
        Map<FeatureGate, Boolean> lists = Map.of(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES, true);

        assertThat(new FeatureGates(V1_36, lists).enabled(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES))
                .isTrue();
        assertThatThrownBy(() -> new FeatureGates(V1_34, lists))
                .hasMessage("Kubernetes 1.34 has no feature gate DRAListTypeAttributes; leave it out or choose a newer"
                        + " version");
    }

    @Test
    void aLockedGateCannotBeSwitchedOff() {
        FeatureGate gate = FeatureGate.DRA_PRIORITIZED_LIST;
        Map<FeatureGate, Boolean> off = Map.of(gate, false);

        assertThat(new FeatureGates(V1_36, off).enabled(gate)).isFalse();
        assertThat(new FeatureGates(V1_37, Map.of(gate, true)).enabled(gate)).isTrue();
        assertThatThrownBy(() -> new FeatureGates(V1_38, Map.of(FeatureGate.DRA_DEVICE_TAINTS, false)))
                .hasMessageContaining("locked feature gate DRADeviceTaints");
        assertThatThrownBy(() -> new FeatureGates(V1_37, off))
                .hasMessage("Kubernetes 1.37 has locked feature gate DRAPrioritizedList on; leave it out or choose"
                        + " an older version");
    }
}
