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
}
