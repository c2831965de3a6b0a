// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.ProviderWithoutClaims;
import io.dra4j.runtime.internal.driver.Liveness.MountedDirectories;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated
class LivenessTest {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(Liveness.class, Level.WARN);

    private final List<DriverEvent> events = new ArrayList<>();
    private final Liveness liveness = new Liveness();
    private Supplier<Optional<String>> reason = Optional::empty;

    @BeforeEach
    void start() {
        liveness.started(new Provider(), new MountedDirectories(List.of()), events::add);
    }

    private long logged(Level level) {
        return log.list.stream().filter(event -> event.getLevel() == level).count();
    }

    @Test
    void aReasonIsLoggedAndRecordedOnceForAllProbes() {
        reason = () -> Optional.of("no library");

        assertThat(liveness.restartReason()).contains("no library");
        assertThat(liveness.restartReason()).contains("no library");

        assertThat(logged(Level.ERROR)).isEqualTo(1);
        assertThat(events).extracting(DriverEvent::reason).containsExactly(Reason.RESTART_NEEDED);
        assertThat(events.get(0).message()).contains("no library");
    }

    @Test
    void aProviderThatFailsToAnswerNeedsNoRestartAndIsLoggedOnce() {
        reason = () -> {
            throw new IllegalStateException("broken");
        };

        assertThat(liveness.restartReason()).isEmpty();
        assertThat(liveness.restartReason()).isEmpty();
        assertThat(logged(Level.WARN)).isEqualTo(1);

        reason = () -> null;
        assertThat(liveness.restartReason()).isEmpty();
        assertThat(logged(Level.WARN)).isEqualTo(1);

        reason = () -> Optional.of("no library");
        assertThat(liveness.restartReason()).contains("no library");
        assertThat(events).hasSize(1);
    }

    @Test
    void theProviderIsNotAskedBeforeItsStartAndAfterItsEnd() {
        reason = () -> Optional.of("no library");

        assertThat(new Liveness().restartReason()).isEmpty();
        liveness.close();
        assertThat(liveness.restartReason()).isEmpty();
        assertThat(events).isEmpty();
    }

    private final class Provider extends ProviderWithoutClaims {
        @Override
        public Optional<String> restartReason() {
            return reason.get();
        }

        @Override
        public Inventory inventory() {
            throw new AssertionError("probes ask no hardware");
        }
    }

    @Nested
    class OfMountedDirectories {

        @TempDir
        Path directory;

        /** A directory that this process has open is to it what a mounted one is to a container. */
        @Test
        void oneThatIsDeletedIsNamed() throws IOException {
            Path deleted = Files.createDirectory(directory.resolve("deleted"));
            try (FileChannel open = FileChannel.open(deleted)) {
                Path mounted = descriptor(deleted);
                MountedDirectories directories =
                        new MountedDirectories(List.of(directory.resolve("missing"), directory, mounted));
                assertThat(directories.deleted()).isEmpty();

                Files.delete(deleted);
                Files.createDirectory(deleted);

                assertThat(open.isOpen()).isTrue();
                assertThat(directories.deleted())
                        .hasValueSatisfying(reason ->
                                assertThat(reason).startsWith("The directory " + mounted + " was deleted on the node"));
            }
        }

        private static Path descriptor(Path target) throws IOException {
            try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
                return all.filter(Files::isSymbolicLink)
                        .filter(link -> pointsTo(link, target))
                        .findFirst()
                        .orElseThrow();
            }
        }

        private static boolean pointsTo(Path link, Path target) {
            try {
                return Files.readSymbolicLink(link).equals(target);
            } catch (IOException e) {
                return false; // the descriptor of the listing itself
            }
        }
    }

    @Nested
    class TheStart {

        private static final Duration MOMENT = Duration.ofMillis(1);

        /** A restart, which is what a probe of the start that fails leads to, would not help. */
        @Test
        void aStartThatTakesLongIsOverOnceItsDriverHasStartedThoughItIsNotReady() {
            Readiness readiness = new Readiness(MOMENT);
            assertThat(readiness.awaitStart()).isFalse();
            readiness.started(() -> List.of("API server: no answer"));

            assertThat(readiness.awaitStart()).isTrue();
            assertThat(readiness.missing()).isNotEmpty();
        }

        @Test
        void theStartIsOverWhenNothingIsMissingAnyMore() {
            Readiness readiness = new Readiness(Duration.ofMinutes(5));
            AtomicInteger asked = new AtomicInteger();
            readiness.started(() -> asked.incrementAndGet() < 3 ? List.of("pool node-1: not published") : List.of());

            assertThat(readiness.awaitStart()).isTrue();
            assertThat(asked).hasValue(3);
        }
    }
}
