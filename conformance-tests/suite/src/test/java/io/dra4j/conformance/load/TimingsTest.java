// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.dra4j.conformance.load.NodesNumbers.Host;
import io.dra4j.conformance.load.NodesNumbers.Idle;
import io.dra4j.testkit.apiserver.model.Traffic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.util.DoubleComparator;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Times of calls and numbers of nodes, and what is computed of them. */
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
        assertThat(of(Duration.ZERO, Duration.ofMillis(3)).percentile(1)).isEqualTo(Duration.ofMillis(3));
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

    private static final Duration TEN = Duration.ofSeconds(10);

    private static NodesNumbers numbers(int registered, String incomplete, Idle idle) {
        return new NodesNumbers(
                new NodesPlan(11, 8, TEN),
                registered,
                11,
                incomplete,
                TEN,
                Map.of("create resourceslices", 11L, "list resourceslices", 22L),
                host(1000, 20),
                host(2000, 70),
                idle,
                traffic("list resourceslices", 11, 110, 1100),
                traffic("get resourceclaims", 11, 33, 66),
                11);
    }

    private static Host host(long bytes, int threads) {
        return new Host(new Footprint(bytes, bytes, threads, 1, 1), bytes);
    }

    private static Map<String, Traffic> traffic(String kind, long requests, long received, long sent) {
        return Map.of(kind, new Traffic(requests, received, sent));
    }

    private static Idle idle(Map<String, Long> requests, long cpuMillis) {
        Map<String, Traffic> traffic = new HashMap<>();
        requests.forEach((kind, count) -> traffic.put(kind, new Traffic(count, 10 * count, 20 * count)));
        return new Idle(traffic, Duration.ofMillis(cpuMillis), TEN);
    }

    @Test
    void whatEachDriverAddsLeavesOutTheFirstAndRequestsAreOfAll() {
        NodesNumbers numbers = numbers(11, "", idle(Map.of(), 0));

        assertThat(numbers.added(1000, 2000)).isEqualTo(100);
        assertThat(numbers.added(20, 70)).isEqualTo(5);
        assertThat(numbers.allRequests()).isEqualTo(33);
        assertThat(numbers.each(numbers.allRequests())).isEqualTo(3);
    }

    @Test
    void anHourOfANodeHasItsWatchesEndsAndItsPrepares() {
        NodesNumbers numbers = numbers(11, "", idle(Map.of("watch resourceslices", 11L), 0));

        assertThat(numbers.perHour(0))
                .as("ten seconds of rest, and four ends of a watch in three hours")
                .usingRecursiveComparison()
                .withComparatorForType(new DoubleComparator(1e-6), Double.class)
                .isEqualTo(Map.of(
                        "watch resourceslices", new Traffic(360, 3600, 7200),
                        "list resourceslices", new Traffic(4 / 3.0, 40 / 3.0, 400 / 3.0)));
        assertThat(numbers.perHour(60).get("get resourceclaims").received()).isCloseTo(180, within(1e-6));
    }

    @Test
    void watchesThatBeginAgainAreNoComplaint() {
        Idle idle = idle(Map.of("watch resourceslices", 3L), 110);

        assertThat(idle.cpuPercent()).isEqualTo(1.1);
        assertThat(numbers(11, "", idle).complaints()).isEmpty();
    }

    @Test
    void eachLimitThatIsExceededIsASentence() {
        Idle idle = idle(Map.of("get nodes", 2L, "watch resourceslices", 3L), 121);

        assertThat(numbers(10, "there is no slice", idle).complaints())
                .containsExactly(
                        "Not everything is published: there is no slice.",
                        "10 of 11 drivers are registered with the kubelet.",
                        "Idle drivers sent requests other than watches: {get nodes=2}.",
                        "An idle driver takes 0.110 % of a core; the limit is 0.1 %.");
    }
}
