// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StepDeadlineTest {

    private static final Instant NOW = Instant.parse("2026-11-26T10:00:00Z");

    /** Two seconds of each call are left to report. */
    @ParameterizedTest
    @CsvSource({
        "PT10S, PT30S, PT10S, 10 s",
        "PT10S, PT12.5S, PT10S, 10 s",
        "PT10S, PT11S, PT9S, 9 s",
        "PT10S, PT2.3S, PT0.3S, 300 ms",
        "PT10S, PT2S, PT0S, 0 s",
        "PT10S, PT-1S, PT0S, 0 s",
        "PT1.5S, PT30S, PT1.5S, 1500 ms"
    })
    void aStepEndsBeforeTheCall(Duration limit, Duration untilTheEnd, Duration timeout, String text) {
        StepDeadline deadline = StepDeadline.of(limit, NOW.plus(untilTheEnd), () -> NOW);

        assertThat(deadline.timeout()).isEqualTo(timeout);
        assertThat(deadline.text()).isEqualTo(text);
        assertThat(deadline.left()).isLessThanOrEqualTo(timeout);
        assertThat(deadline.isOver()).isEqualTo(timeout.isZero());
    }
}
