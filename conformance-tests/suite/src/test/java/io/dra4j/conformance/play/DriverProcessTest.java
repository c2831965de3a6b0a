// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.driver.ProcessDriver;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DriverProcessTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final Place place = Place.create("node-a", "gpu.example.com");

    @AfterEach
    void removePlace() {
        assertThat(place.remove()).isEmpty();
    }

    private DriverProcess start(String script) {
        List<String> command = List.of("sh", "-c", script);
        return new DriverProcess(new ProcessDriver(command, Map.of(), TIMEOUT), place);
    }

    private static boolean forever() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return true;
    }

    @Test
    void isConfiguredByItsEnvironmentAndItsCommandLine() {
        try (DriverProcess driver = start("echo $NODE_NAME {CDI_ROOT} $DRIVER_NAME; kill -9 $$ # {NODE_NAME}")) {
            assertThatThrownBy(() -> driver.await(DriverProcessTest::forever))
                    .isInstanceOf(StepFailed.class)
                    .hasMessage("gpu.example.com has ended unexpectedly, with status 137");

            assertThat(driver.tail()).containsExactly("node-a " + place.cdi() + " gpu.example.com");
        }
    }

    @Test
    void showsOutputInAnyEncoding() {
        try (DriverProcess driver = start("echo first; printf 'gr\\374n\\n'")) {
            assertThatThrownBy(() -> driver.await(DriverProcessTest::forever)).isInstanceOf(StepFailed.class);

            assertThat(driver.tail()).containsExactly("first", "gr\ufffdn");
        }
    }

    @Test
    void passesOnWhatAWaitThrows() {
        try (DriverProcess driver = start("exec sleep 60")) {
            assertThatThrownBy(() -> driver.await(() -> {
                        throw new IllegalStateException("no answer");
                    }))
                    .isInstanceOf(StepFailed.class)
                    .hasMessage("no answer");
        }
    }

    @Test
    void canBeKilledAndStartedAgain() {
        try (DriverProcess driver = start("exec sleep 60")) {
            long first = driver.pid();
            driver.kill();
            assertThat(ProcessHandle.of(first)).isEmpty();

            driver.restart();

            assertThat(ProcessHandle.of(driver.pid())).isPresent();
        }
    }

    @Test
    void tellsTheStatusThatASignalLeadsTo() {
        try (DriverProcess driver =
                start("trap 'exit 7' TERM; echo ready > $CDI_ROOT/r; while :; do sleep 0.05; done")) {
            driver.await(() -> {
                while (!Files.exists(place.cdi().resolve("r"))) {
                    Thread.onSpinWait();
                }
                return true;
            });

            assertThat(driver.stop(TIMEOUT)).isEqualTo(7);
        }
    }

    @Test
    void leavesNoProcessBehindWhenItIsClosed() {
        DriverProcess driver = start("sleep 60 & wait");
        long pid = driver.pid();

        driver.close();

        assertThat(ProcessHandle.of(pid)).isEmpty();
        assertThatThrownBy(driver::restart).hasMessage("the play was ended");
    }
}
