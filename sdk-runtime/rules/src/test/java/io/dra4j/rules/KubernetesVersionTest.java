// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static io.dra4j.rules.KubernetesVersion.V1_34;
import static io.dra4j.rules.KubernetesVersion.V1_36;
import static io.dra4j.rules.KubernetesVersion.V1_37;
import static io.dra4j.rules.KubernetesVersion.V1_38;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Releases other than the known ones, and the gates of a release that can be switched. */
class KubernetesVersionTest {

    @ParameterizedTest
    @CsvSource({
        "v1.33.4, V1_34, false",
        "1.34, V1_34, false",
        "v1.36.2+k3s1, V1_36, false",
        "v1.38.0-alpha.2, V1_38, false",
        "v1.39.0, V1_38, true",
        "1.40+, V1_38, true",
        "v2.0.1, V1_38, true"
    })
    void aReleaseBesideThoseThatAreKnownIsJudgedByTheNearest(String text, KubernetesVersion nearest, boolean isNew) {
        Release release = Release.of(text).orElseThrow();

        assertThat(release.nearest()).isEqualTo(nearest);
        assertThat(release.isNewerThanKnown()).isEqualTo(isNew);
    }

    @Test
    void anUnknownReleaseIsRefusedWithAChoice() {
        assertThat(KubernetesVersion.parse("v1.36")).isEqualTo(KubernetesVersion.V1_36);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> KubernetesVersion.parse("1.9"))
                .withMessage("The rules of Kubernetes 1.9 are not known; choose one of 1.34, 1.35, 1.36, 1.37, 1.38");
    }

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
