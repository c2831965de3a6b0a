// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.testkit.driver.ProcessDriver;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DriverProcessTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Folders folders = Folders.create();

    @AfterEach
    void removeFolders() {
        folders.close();
        assertThat(folders.root()).doesNotExist();
    }

    private DriverProcess start(String script) {
        List<String> command = List.of("sh", "-c", script);
        return DriverProcess.start(
                new ProcessDriver(command, Map.of(), PATIENCE),
                folders.place("node-a", "gpu.example.com"));
    }

    private static void forever() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void isToldByItsEnvironmentAndItsCommandLine() {
        try (DriverProcess driver =
                start("echo $NODE_NAME {CDI_ROOT} $DRIVER_NAME; kill -9 $$ # {NODE_NAME}")) {
            assertThatThrownBy(() -> driver.awaitDone(DriverProcessTest::forever))
                    .isInstanceOf(StepFailed.class)
                    .hasMessage("gpu.example.com has ended by itself, with status 137");

            assertThat(driver.tail())
                    .containsExactly("node-a " + folders.cdi() + " gpu.example.com");
        }
    }

    @Test
    void passesOnWhatAWaitThrows() {
        try (DriverProcess driver = start("exec sleep 60")) {
            assertThatThrownBy(
                            () ->
                                    driver.awaitDone(
                                            () -> {
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
                start(
                        "trap 'exit 7' TERM; echo ready > $CDI_ROOT/r; while :; do sleep 0.05; done")) {
            driver.awaitDone(
                    () -> {
                        while (Folders.below(folders.cdi()).isEmpty()) {
                            Thread.onSpinWait();
                        }
                    });

            assertThat(driver.stop(PATIENCE)).isEqualTo(7);
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
