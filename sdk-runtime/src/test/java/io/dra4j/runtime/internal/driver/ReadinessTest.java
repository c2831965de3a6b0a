// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ReadinessTest {

    private static final Duration MOMENT = Duration.ofMillis(1);

    @Test
    void aStartThatTakesLongIsNotOver() {
        assertThat(new Readiness(MOMENT).awaitStart()).isFalse();
    }

    @Test
    void theStartIsOverWhenNothingIsMissingAnyMore() {
        Readiness readiness = new Readiness(Duration.ofMinutes(5));
        AtomicInteger asked = new AtomicInteger();
        readiness.started(() -> asked.incrementAndGet() < 3 ? List.of("pool node-1: not published") : List.of());

        assertThat(readiness.awaitStart()).isTrue();
        assertThat(asked).hasValue(3);
    }

    /** A restart, which is what a probe of the start that fails leads to, would not help. */
    @Test
    void theStartOfADriverThatGetsNotReadyIsOverAllTheSame() {
        Readiness readiness = new Readiness(MOMENT);
        readiness.started(() -> List.of("API server: no answer"));

        assertThat(readiness.awaitStart()).isTrue();
        assertThat(readiness.missing()).isNotEmpty();
    }
}
