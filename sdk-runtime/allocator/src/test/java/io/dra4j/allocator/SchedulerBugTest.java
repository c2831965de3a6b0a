// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import static io.dra4j.allocator.SchedulerBug.COUNTER_LEAK;
import static io.dra4j.rules.KubernetesVersion.V1_36;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SchedulerBugTest {

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
}
