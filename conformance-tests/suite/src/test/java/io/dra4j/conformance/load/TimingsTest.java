// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TimingsTest {

    private static Timings of(Duration limit, Duration... times) {
        return new Timings("prepare", 1, 0, List.of(times), limit);
    }

    @Test
    void percentilesAreTakenByTheNearestRank() {
        List<Duration> times = new ArrayList<>(
                IntStream.rangeClosed(1, 200).mapToObj(Duration::ofMillis).toList());
        Collections.shuffle(times, new Random(1));

        Timings measure = new Timings("prepare", 1, 0, times, Duration.ZERO);

        assertThat(measure.percentile(50)).isEqualTo(Duration.ofMillis(100));
        assertThat(measure.percentile(99)).isEqualTo(Duration.ofMillis(198));
        assertThat(measure.longest()).isEqualTo(Duration.ofMillis(200));
    }

    @Test
    void ofOneTimeEveryPercentileIsThatTime() {
        Timings measure = of(Duration.ZERO, Duration.ofMillis(3));

        assertThat(measure.percentile(1)).isEqualTo(measure.percentile(99));
    }

    @Test
    void theLimitIsForTheLongest() {
        Duration limit = Duration.ofSeconds(45);

        assertThat(of(limit, Duration.ofSeconds(1), limit).isWithinLimit()).isTrue();
        assertThat(of(limit, Duration.ofSeconds(1), limit.plusNanos(1)).isWithinLimit())
                .isFalse();
        assertThat(of(Duration.ZERO, Duration.ofHours(1)).isWithinLimit()).isTrue();
    }

    @Test
    void nothingIsNoMeasure() {
        assertThatThrownBy(() -> of(Duration.ZERO)).hasMessage("nothing was measured");
    }
}
