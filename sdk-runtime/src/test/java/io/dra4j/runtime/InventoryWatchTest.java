// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.internal.publish.ManualLoop;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InventoryWatchTest {

    private static final Duration INTERVAL = Duration.ofSeconds(5);

    @Nested
    class OfAProbe implements ScenarioSteps {

        private final ManualLoop timer = new ManualLoop();
        private Callable<List<String>> probe = () -> List.of("serial-1");
        private int changes;
        private boolean failing;

        private InventoryWatch watch;

        @Override
        public void run(String[] words, String text) {
            switch (words[0]) {
                case "watch" -> watch = InventoryWatch.ofProbe(INTERVAL, () -> probe.call(), this::changed, timer);
                case "found" -> probe = () -> List.of(text);
                case "fails" ->
                    probe = () -> {
                        throw new IOException("the bus hangs");
                    };
                case "has-no-thread" ->
                    probe = () -> {
                        throw new OutOfMemoryError("unable to create native thread");
                    };
                case "changes-fail" -> failing = true;
                case "advance" -> timer.advance(Duration.parse("PT" + words[1]));
                case "close" -> watch.close();
                case "changes" -> assertNumber(changes, words, text);
                case "waiting" -> assertNumber(timer.waiting(), words, text);
                default -> throw new IllegalArgumentException(words[0]);
            }
        }

        private void changed() {
            changes++;
            if (failing) {
                throw new IllegalStateException("not now");
            }
        }

        @Scenarios("inventory-watch.txt")
        void callsOnceForEachChange(String scenario) throws Exception {
            play(scenario);
            assertThat(timer.isShutdown()).isFalse();
        }

        @Test
        void hasAThreadOfItsOwn() throws Exception {
            Semaphore changed = new Semaphore(0);
            Semaphore looks = new Semaphore(0);

            try (InventoryWatch watch = InventoryWatch.ofProbe(
                    Duration.ofMillis(1),
                    () -> {
                        looks.release();
                        return looks.availablePermits() > 2;
                    },
                    changed::release)) {
                assertThat(watch).isNotNull();
                assertThat(changed.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
            }
        }
    }

    /** By {@link HealthWatch}. */
    @Nested
    class OfHealth {

        private final ManualLoop timer = new ManualLoop();
        private final List<Collection<DeviceHealth>> reports = new ArrayList<>();
        private Callable<List<DeviceHealth>> probe = () -> List.of();

        private HealthWatch watch(Consumer<Collection<DeviceHealth>> report) {
            return HealthWatch.ofProbe(INTERVAL, () -> probe.call(), report, timer);
        }

        private DeviceHealth valid(int seconds) {
            return new DeviceHealth(
                    new PoolName("node-a"),
                    new DeviceName("gpu-0"),
                    HealthState.HEALTHY,
                    "",
                    Duration.ofSeconds(seconds));
        }

        /** The first reports are no devices, and the first test. */
        @ParameterizedTest
        @CsvSource({"30, 6", "10, 6", "6, 10", "2, 30"})
        void reportsAgainInTimeBeforeAReportExpires(int validFor, int testsInHalfAMinute) {
            probe = () -> List.of(valid(validFor), valid(60));
            watch(reports::add);
            assertThat(reports).hasSize(2).endsWith(List.of(valid(validFor), valid(60)));

            timer.advance(Duration.ofSeconds(30));

            assertThat(reports).hasSize(2 + testsInHalfAMinute);
        }

        @Test
        void reportsNothingWhileTheProbeFailsAndNoMoreOnceClosed() {
            HealthWatch watch = watch(reports::add);
            reports.clear();
            probe = () -> {
                throw new IOException("the bus hangs");
            };
            timer.advance(INTERVAL.multipliedBy(3));
            probe = () -> null;
            watch.look();
            assertThat(reports).isEmpty();

            probe = () -> List.of(valid(30));
            timer.advance(INTERVAL);
            watch.close();

            assertThat(reports).containsExactly(List.of(valid(30)));
            assertThat(timer.waiting()).isZero();
        }

        @Test
        void refusesADriverThatWasBuiltWithoutTheHealthService() {
            IllegalStateException refused = new IllegalStateException("call healthService()");

            assertThatThrownBy(() -> watch(health -> {
                        throw refused;
                    }))
                    .isSameAs(refused);
        }
    }

    @Nested
    class OfAFile {

        @TempDir
        private Path directory;

        private final Semaphore changed = new Semaphore(0);

        @Test
        void noticesThatItIsMadeReplacedAndRemoved() throws Exception {
            Path file = directory.resolve("boards");

            try (InventoryWatch watch = InventoryWatch.ofFile(file, changed::release)) {
                watch.look();
                assertThat(changed.availablePermits()).isZero();
                Files.writeString(file, "one");
                awaitChange();
                Path other = Files.writeString(directory.resolve("other"), "two");
                Files.move(other, file, StandardCopyOption.ATOMIC_MOVE);
                awaitChange();
                Files.delete(file);
                awaitChange();
            }
        }

        @Test
        void callsForNoContentThatIsTheSame() throws Exception {
            Path file = Files.writeString(directory.resolve("boards"), "one");

            try (InventoryWatch watch = InventoryWatch.ofFile(file, changed::release)) {
                Path same = Files.writeString(directory.resolve("other"), "one");
                Files.move(same, file, StandardCopyOption.ATOMIC_MOVE);
                watch.look();

                assertThat(changed.availablePermits()).isZero();
            }
        }

        @Test
        void needsADirectoryAndKeepsNothingOpenWithoutOne() {
            Path file = directory.resolve("missing/boards");
            long before = watchServices();

            for (int i = 0; i < 20; i++) {
                assertThatThrownBy(() -> InventoryWatch.ofFile(file, changed::release))
                        .isInstanceOf(DraException.class)
                        .hasMessageContaining("create the directory before the driver starts");
            }

            assertThat(watchServices()).isLessThan(before + 20); // other tests may have some
        }

        private static long watchServices() {
            return Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("FileSystemWatchService"))
                    .count();
        }

        private void awaitChange() throws InterruptedException {
            assertThat(changed.tryAcquire(60, TimeUnit.SECONDS)).isTrue();
            changed.drainPermits();
        }
    }
}
