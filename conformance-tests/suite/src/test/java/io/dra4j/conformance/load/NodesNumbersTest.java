// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dra4j.conformance.load.NodesNumbers.Host;
import io.dra4j.conformance.load.NodesNumbers.Idle;
import io.dra4j.testkit.apiserver.model.Traffic;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.assertj.core.util.DoubleComparator;
import org.junit.jupiter.api.Test;

class NodesNumbersTest {

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
    void whatEachDriverAddsLeavesOutTheFirst() {
        NodesNumbers numbers = numbers(11, "", idle(Map.of(), 0));

        assertThat(numbers.added(1000, 2000)).isEqualTo(100);
        assertThat(numbers.added(20, 70)).isEqualTo(5);
    }

    @Test
    void requestsAreOfAllDrivers() {
        NodesNumbers numbers = numbers(11, "", idle(Map.of(), 0));

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
