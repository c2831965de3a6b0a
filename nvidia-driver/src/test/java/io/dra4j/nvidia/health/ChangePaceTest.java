// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Many changes are passed on as few. */
class ChangePaceTest {

    private final AtomicInteger passedOn = new AtomicInteger();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private final GpuWatch.ChangePace pace =
            new GpuWatch.ChangePace(passedOn::incrementAndGet, Duration.ofSeconds(1), () -> now);

    private void advance(int millis) {
        now = now.plusMillis(millis);
    }

    @Test
    void theFirstIsPassedOnAtOnceAndTheRestOnceASecond() {
        for (int change = 0; change < 10_000; change++) {
            pace.changed();
            assertThat(passedOn.get()).isEqualTo(1 + change / 1000);
            advance(1);
        }
    }

    @Test
    void theLastIsPassedOnWhenItIsTimeTo() {
        pace.changed();
        advance(500);
        pace.changed();
        advance(499);
        pace.passOn();
        assertThat(passedOn).hasValue(1);

        advance(1);
        pace.passOn();

        assertThat(passedOn).hasValue(2);
        advance(5000);
        pace.passOn();
        assertThat(passedOn).hasValue(2);
    }

    @Test
    void aClockThatIsSetBackMakesNothingWait() {
        pace.changed();
        advance(-3_600_000);

        pace.changed();

        assertThat(passedOn).hasValue(2);
    }
}
