// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class SilenceTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private Instant now = Instant.parse("2026-11-21T12:00:00Z");
    private final Silence silence = new Silence(() -> now);

    @Test
    void isBrokenByWhatIsReceived() {
        now = now.plus(Silence.LIMIT).minusSeconds(1);
        silence.broken();
        now = now.plus(Silence.LIMIT).minusSeconds(1);
        assertThat(silence.isOver()).isFalse();

        now = now.plusSeconds(1);
        assertThat(silence.isOver()).isTrue();
    }

    @Test
    void isNotProlongedByAClockThatIsSetBack() {
        now = now.minus(HOUR);
        assertThat(silence.end()).isEqualTo(now.plus(Silence.LIMIT));

        now = now.plus(Silence.LIMIT);
        assertThat(silence.isOver()).isTrue();
    }
}
