// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KubernetesVersionTest {

    @ParameterizedTest
    @CsvSource({"33, V1_34", "34, V1_34", "36, V1_36", "37, V1_37", "38, V1_38", "39, V1_38"})
    void aReleaseBesideThoseThatAreKnownIsJudgedByTheNearest(int minor, KubernetesVersion nearest) {
        assertThat(KubernetesVersion.nearest(minor)).isEqualTo(nearest);
    }

    @Test
    void anUnknownReleaseIsRefusedWithAChoice() {
        assertThat(KubernetesVersion.parse("v1.36")).isEqualTo(KubernetesVersion.V1_36);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> KubernetesVersion.parse("1.9"))
                .withMessage("The rules of Kubernetes 1.9 are not known; choose one of 1.34, 1.35, 1.36, 1.37, 1.38");
    }
}
