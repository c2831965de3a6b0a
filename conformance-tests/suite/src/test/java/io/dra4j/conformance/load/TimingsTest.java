// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Times of calls, and what is computed of them. */
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

    @ParameterizedTest
    @CsvSource({
        "10 20 30 40 50 50 50 50 50 50, 0", // the growth of the first half is the driver's start
        "10 20 30 40 50 60 70 80 90 100, 50",
        "50 50 50 50 20 50 50 50 50 50, 0", // after a collection at half time
        "10 50 50 50 50 20 20 20 20 20, -30"
    })
    void growthIsThatOfTheSecondHalf(String residentBytes, long growth) {
        List<Long> parts =
                Stream.of(residentBytes.split(" ")).map(Long::valueOf).toList();
        Timings prepares = of(Duration.ZERO, Duration.ZERO);

        assertThat(LongRun.growthBytes(IntStream.range(0, parts.size())
                        .mapToObj(i -> new LongRun.Part(i, new Footprint(parts.get(i), 0, 1, 1, 1), prepares))
                        .toList()))
                .isEqualTo(growth);
    }

    /** Times of several kinds of calls, compared with one another and with what the machine needs. */
    @Nested
    class InNumbers {

        private static Timings measure(String what, int batch, int held, int millis) {
            return new Timings(what, batch, held, List.of(Duration.ofMillis(millis)), Duration.ofSeconds(45));
        }

        private final Timings first = measure("prepare, 1 to 10", 1, 0, 30);
        private final Timings one = measure("prepare", 1, 0, 12);
        private final Timings eight = measure("prepare", 8, 0, 18);
        private final Timings held = measure("prepare", 1, 200, 15);
        private final Timings eightHeld = measure("prepare", 8, 200, 45);
        private final Timings unprepared = measure("unprepare", 1, 0, 9);

        private final DriverNumbers numbers = new DriverNumbers(
                "gpu.example.com",
                List.of(),
                Optional.empty(),
                Optional.empty(),
                200,
                List.of(
                        measure(Floors.EMPTY_CALL, 0, 0, 1),
                        measure(Floors.FILE, 0, 0, 2),
                        measure(Floors.DIRECTORY, 0, 0, 100),
                        measure(Floors.GET, 0, 0, 3)),
                List.of(first, one, eight, held, eightHeld, unprepared));

        @Test
        void severalClaimsAreComparedWithOneOfAsManyHeld() {
            assertThat(numbers.toOneClaim(eight)).hasValue(1.5);
            assertThat(numbers.toOneClaim(eightHeld)).hasValue(3);
            assertThat(numbers.toOneClaim(one)).isEmpty();
            assertThat(numbers.toOneClaim(first)).as("with the later ones").hasValue(2.5);
        }

        @Test
        void claimsHeldAreComparedWithNoneHeldAndAsManyInTheCall() {
            assertThat(numbers.toNoneHeld(held)).hasValue(1.25);
            assertThat(numbers.toNoneHeld(eightHeld)).hasValue(2.5);
            assertThat(numbers.toNoneHeld(eight)).isEmpty();
        }

        @Test
        void theFloorIsWhatOneSuchCallNeeds() {
            assertThat(numbers.toFloor(one)).as("1 + 3 + 2 x 2").hasValue(1.5);
            assertThat(numbers.toFloor(unprepared)).as("1 + 2").hasValue(3);
            assertThat(numbers.toFloor(measure(Floors.GET, 0, 0, 3))).isEmpty();
        }
    }
}
