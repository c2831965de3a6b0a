// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.load.NodesNumbers.Host;
import io.dra4j.conformance.load.NodesNumbers.Idle;
import java.time.Duration;
import java.util.Map;
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
                idle);
    }

    private static Host host(long bytes, int threads) {
        return new Host(new Footprint(bytes, bytes, threads, 1, 1), bytes);
    }

    private static Idle idle(Map<String, Long> requests, long cpuMillis) {
        return new Idle(requests, Duration.ofMillis(cpuMillis), TEN);
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
                        "Not all is published: there is no slice.",
                        "The kubelet has 10 drivers of 11.",
                        "Idle drivers sent requests other than watches: {get nodes=2}.",
                        "An idle driver takes 0.110 % of a core; the limit is 0.1 %.");
    }
}
