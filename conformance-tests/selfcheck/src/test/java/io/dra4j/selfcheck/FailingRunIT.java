// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Place;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A run that ends because a part of the suite fails. */
class FailingRunIT {

    /** Has room for two test contexts, and fails in a way that nothing expects. */
    private static final class TwoPlaces implements DriverAdapter {
        private final HostedDriver driver = Runner.hosted(List.of());
        private final Queue<Path> roots = new ConcurrentLinkedQueue<>();

        @Override
        public Place place(String node, String driverName) {
            if (roots.size() == 2) {
                throw new IllegalStateException("no third place");
            }
            Place place = driver.place(node, driverName);
            roots.add(place.root());
            return place;
        }

        @Override
        public Duration startTimeout() {
            return driver.startTimeout();
        }

        @Override
        public Instance start(Place place, Map<String, String> more) {
            return driver.start(place, more);
        }
    }

    /** No requirement has a verdict, and the message has the line of the log that tells why. */
    @ParameterizedTest
    @CsvSource({
        "M-230, 'The driver has not registered within 1 s; the kubelet saw no socket; its last line: I1123 01:02:03.000004       1 main.go:7] No device detected, retrying in 1m0s'",
        "M-231, The driver ended with exit status 2; it logged: panic: no PCIe root"
    })
    void aDriverThatMakesNoSocketIsNotJudged(String fault, String message) {
        HostedDriver driver = new HostedDriver(List.of("--fault", fault), Map.of(), Duration.ofSeconds(1));

        assertThatThrownBy(() -> Runner.run("", Map.of(), driver))
                .isInstanceOf(DriverUnusable.class)
                .hasMessage(message);
    }

    /** The other execution group waits for requirements of the one that has failed. */
    @Test
    @Timeout(300)
    void endsAndLeavesNothing() {
        TwoPlaces driver = new TwoPlaces();

        assertThatThrownBy(() ->
                        Runner.run("only: [DRA-PREP-01, DRA-SLICE-01, DRA-SLICE-19, DRA-RST-01]", Map.of(), driver))
                .isInstanceOf(CompletionException.class)
                .hasMessageContaining("no third place");

        assertThat(driver.roots).hasSize(2).allSatisfy(r -> assertThat(r).doesNotExist());
    }
}
