// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TransientRetryTest {

    private static final Instant BEGIN = Instant.parse("2026-11-21T00:00:00Z");

    private final List<Duration> pauses = new ArrayList<>();
    private final List<Duration> limits = new ArrayList<>();
    private Instant now = BEGIN;
    private final TransientRetry retry = new TransientRetry(() -> now, this::pause, new Random(1));

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    private void pause(Duration pause) {
        pauses.add(pause);
        now = now.plus(pause);
    }

    private String failing(Duration limit, @Nullable Duration retryAfter) {
        limits.add(limit);
        throw new ClusterException("The API server answered 503", 503, retryAfter);
    }

    @Test
    void pausesGrowUpToFiveSecondsAndNoAttemptGetsMoreThanTenOrThanIsLeft() {
        Instant deadline = BEGIN.plusSeconds(45);

        assertThatThrownBy(() -> retry.until(deadline, limit -> failing(limit, null)))
                .hasMessageMatching("The API server answered 503; this was attempt [0-9]+ in 4[0-9][.][0-9] s");

        assertThat(pauses).hasSizeBetween(12, 22);
        assertThat(pauses.get(0)).isBetween(Duration.ofMillis(50), Duration.ofMillis(100));
        assertThat(pauses).allMatch(pause -> pause.compareTo(Duration.ofSeconds(5)) <= 0);
        assertThat(now).isBetween(deadline.minusSeconds(5), deadline);

        assertThat(limits).allMatch(limit -> limit.compareTo(Duration.ofSeconds(10)) <= 0);
        assertThat(limits.get(limits.size() - 1)).isLessThan(Duration.ofSeconds(10));
        assertThat(limits).allMatch(limit -> limit.compareTo(Duration.ofSeconds(1)) >= 0);
    }

    @Test
    void aWaitThatTheServerAsksForIsKept() {
        assertThatThrownBy(() -> retry.until(BEGIN.plusSeconds(10), limit -> failing(limit, Duration.ofSeconds(4))));

        assertThat(pauses).containsExactly(Duration.ofSeconds(4), Duration.ofSeconds(4));
    }

    @Test
    void oneAttemptIsMadeEvenAfterTheDeadline() {
        String answer = retry.until(BEGIN.minusSeconds(1), limit -> "answer");

        assertThat(answer).isEqualTo("answer");
    }

    @Test
    void anInterruptedThreadDoesNotTryAgain() {
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> retry.until(BEGIN.plusSeconds(45), limit -> failing(limit, null)))
                .isInstanceOf(ClusterException.class);
        assertThat(limits).hasSize(1);
    }
}
