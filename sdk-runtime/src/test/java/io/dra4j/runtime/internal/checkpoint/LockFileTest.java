// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.NodeLock;
import io.dra4j.api.error.DraException;
import io.dra4j.testkit.driver.JavaProgram;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks within one process. */
@Timeout(120)
@SuppressWarnings("try") // locks are held, and not looked at
class LockFileTest extends JournalFixture {

    private static final BooleanSupplier AT_ONCE = () -> true;

    @Test
    void isForItsOwnerAlone() throws IOException {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("claims.lock"))))
                .isEqualTo("rw-------");
    }

    @Test
    void thatCannotBeOpenedIsAnErrorThatNamesIt() {
        assertFails(() -> LockFile.open(directory.resolve("no/such")), "no/such", "the directory must exist");
        assertFails(() -> LockFile.open(directory), "Can't open the lock file " + directory);
    }

    @Test
    void thatAnotherProcessMadeAgainFirstIsLostAsFarAsThatProcessHasIt() throws Exception {
        LockFile.Held publisher = locks.tryPublisher().orElseThrow();
        LockFile.Held claim = locks.claim("uid-1", AT_ONCE);
        Files.delete(directory.resolve("claims.lock"));
        Process other = holder();
        try {
            assertThat(publisher.isLost()).isFalse();

            locks.restore();

            assertThat(publisher.isLost()).isTrue();
            assertThat(claim.isLost()).isFalse();
            publisher.close();
            assertThat(locks.tryPublisher()).as("the other has it").isEmpty();
            assertThat(locks.tryClaim("uid-1")).isEmpty();
        } finally {
            other.destroyForcibly().waitFor();
        }
        assertThat(locks.tryPublisher()).isPresent();
    }

    /** Starts a process that publishes, and has the lock "slots", until it is killed. */
    private Process holder() throws IOException {
        List<String> command = new JavaProgram(
                        directory, JavaProgram.SHORT_LIVED, JavaProgram.ownClassPath(), Holder.class.getName())
                .command();
        Process other = new ProcessBuilder(Stream.concat(command.stream(), Stream.of(directory.toString()))
                        .toList())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        assertThat(other.inputReader().readLine()).isEqualTo("holds");
        return other;
    }

    static final class Holder {

        private Holder() {}

        public static void main(String[] args) throws IOException {
            LockFile locks = LockFile.open(Path.of(args[0], "claims.lock"));
            locks.named("slots", () -> true, holder -> "held by " + holder);
            System.out.println(locks.tryPublisher().isPresent() ? "holds" : "waits");
            System.in.read();
        }
    }

    private static NodeLock named(LockFile file, String name, Duration atMost) {
        return file.named(name, atMost, holder -> "held by " + holder);
    }

    @Test
    void whatHasANameIsHeldByOneThreadOfOneProcessAndEndsWithIt() throws Exception {
        Process other = holder();
        try {
            assertFails(() -> named(locks, "slots", Duration.ZERO), "held by process " + other.pid());
            named(locks, "ports", Duration.ZERO).close();
        } finally {
            other.destroyForcibly();
        }
        try (LockFile second = openLockFile();
                NodeLock held = named(locks, "slots", Duration.ofSeconds(20))) {
            assertFails(() -> named(second, "slots", Duration.ofMillis(2)), "held by this process itself");
        }
    }

    /** A process with much to do, and many threads, would otherwise take it again before another looks. */
    @Test
    void whatHasANameGoesToTheOtherProcessAndToTheThreadsOfOneInOrder() {
        List<String> order = new CopyOnWriteArrayList<>();
        try (LockFile second = openLockFile()) {
            NodeLock held = named(locks, "slots", Duration.ZERO);
            for (String who : List.of("a1", "b", "a2", "a3")) {
                await(who.equals("b") ? second : locks, () -> order.add(who));
            }

            held.close();
            try (NodeLock again = named(locks, "slots", Duration.ofSeconds(20))) {
                order.add("who had it");
            }
        }
        assertThat(order).containsExactly("b", "a1", "a2", "a3", "who had it");
    }

    private static void await(LockFile file, Runnable action) {
        Thread thread = new Thread(() -> {
            try (NodeLock taken = named(file, "slots", Duration.ofSeconds(20))) {
                action.run();
            }
        });
        thread.start();
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }

    @Test
    void whatHasANameIsWaitedForForAnyTimeUnlessTheThreadIsInterrupted() {
        Duration forever = ChronoUnit.FOREVER.getDuration();
        assertThatThrownBy(() -> named(locks, "slots", null)).isInstanceOf(NullPointerException.class);
        try (NodeLock held = named(locks, "slots", forever)) {
            assertFails(() -> named(locks, "slots", forever.negated()), "held by this process itself");
            Thread.currentThread().interrupt();
            assertFails(() -> named(locks, "slots", forever), "interrupted", "held by this process itself");
            assertThat(Thread.interrupted()).isTrue();
        }
        named(locks, "slots", Duration.ZERO).close();
    }

    @Test
    void thatIsRemovedAndNoOtherIsMadeAgainWithWhatIsHeld() throws IOException {
        Object inode = JournalFile.inode(directory.resolve("claims.lock"));

        locks.restore();

        assertThat(JournalFile.inode(directory.resolve("claims.lock"))).isEqualTo(inode);

        LockFile.Held held = locks.claim("uid-1", AT_ONCE);
        Files.delete(directory.resolve("claims.lock"));

        locks.restore();

        isForItsOwnerAlone();
        assertThat(locks.tryClaim("uid-1")).isEmpty();
        try (FileChannel other = FileChannel.open(directory.resolve("claims.lock"), StandardOpenOption.WRITE)) {
            assertThatThrownBy(() -> other.tryLock(0, Long.MAX_VALUE, false))
                    .as("what another would lock")
                    .isInstanceOf(OverlappingFileLockException.class);
            held.close();
            other.lock(0, Long.MAX_VALUE, false).release();
        }
    }

    @Test
    void aClaimIsWorkedOnByOneAtATimeAndOthersMeanwhile() {
        try (LockFile.Held held = locks.claim("uid-1", AT_ONCE);
                LockFile.Held other = locks.claim("uid-2", AT_ONCE)) {
            assertFails(() -> locks.claim("uid-1", AT_ONCE), "another process of the driver is working on the claim");
            assertThat(locks.tryClaim("uid-1")).isEmpty();
        }
        locks.claim("uid-1", AT_ONCE).close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoWaitsForAClaimGetsItWhenItIsFreeUnlessItsDriverStops(boolean stops) throws Exception {
        LockFile.Held held = locks.claim("uid-1", AT_ONCE);
        LockFile second = openLockFile();
        CountDownLatch waits = new CountDownLatch(1);
        CompletableFuture<LockFile.Held> next = CompletableFuture.supplyAsync(() -> {
            waits.countDown();
            return second.claim("uid-1", () -> false);
        });
        waits.await();
        assertThat(next).isNotDone();

        if (stops) {
            second.close();
        }
        held.close();

        assertThat(next.handle((taken, failure) -> failure != null).get(20, TimeUnit.SECONDS))
                .isEqualTo(stops);
        second.close();
        next.exceptionally(failure -> null)
                .thenAccept(LockFileTest::closeIfTaken)
                .join();
        locks.claim("uid-1", AT_ONCE).close();
        locks.close();
        assertFails(() -> locks.claim("uid-1", AT_ONCE), "the driver is stopping");
    }

    private static void closeIfTaken(LockFile.@Nullable Held held) {
        if (held != null) {
            held.close();
        }
    }

    @Test
    void neitherAnInterruptedThreadNorGivingBackTwiceTakesAnythingFromTheNext() {
        Thread.currentThread().interrupt();
        locks.claim("uid-1", AT_ONCE).close();
        assertThat(Thread.interrupted()).isTrue();

        locks.claim("uid-2", AT_ONCE).close();

        LockFile.Held first = locks.claim("uid-1", AT_ONCE);
        first.close();
        try (LockFile.Held second = locks.claim("uid-1", AT_ONCE)) {
            first.close();

            assertThatThrownBy(() -> locks.claim("uid-1", AT_ONCE)).isInstanceOf(DraException.class);
        }
    }

    @Test
    void aSecondOpeningInTheProcessSharesTheLocksAndItsEndLeavesClaimsToTheirOperations() {
        Path other = directory.resolve("../" + directory.getFileName() + "/claims.lock");
        LockFile second = LockFile.open(other);
        LockFile.Held first = locks.claim("uid-1", AT_ONCE);
        LockFile.Held inProgress = second.claim("uid-2", AT_ONCE);
        named(second, "slots", Duration.ZERO);
        assertThatThrownBy(() -> second.claim("uid-1", AT_ONCE)).isInstanceOf(DraException.class);
        assertThat(locks.tryRun() && locks.isOnlyInstance()).isTrue();
        assertThat(second.tryRun()).isTrue();
        assertThat(locks.isOnlyInstance()).isFalse();

        second.close();

        assertThatThrownBy(() -> locks.claim("uid-1", AT_ONCE)).isInstanceOf(DraException.class);
        assertThatThrownBy(() -> locks.claim("uid-2", AT_ONCE)).isInstanceOf(DraException.class);
        assertFails(() -> named(locks, "slots", Duration.ZERO), "held by this process itself");
        inProgress.close();
        named(locks, "slots", Duration.ZERO).close();
        locks.claim("uid-2", AT_ONCE).close();
        first.close();
    }

    /** The other way round: a disk that stalls the last line must not stall those who ask for a range. */
    @Test
    void theLastLineIsWrittenAndReadWhileOthersLookAtTheRanges() throws Exception {
        LockRanges ranges = LockRanges.open(directory.resolve("claims.lock"));
        Field taken = LockRanges.class.getDeclaredField("taken");
        taken.setAccessible(true);

        synchronized (taken.get(ranges)) {
            CompletableFuture.runAsync(() -> assertThatCode(() -> {
                                locks.lastLine(new LineNumber(3, 17));
                                locks.lastLine();
                            })
                            .doesNotThrowAnyException())
                    .get(20, TimeUnit.SECONDS);
        }
        ranges.leave();
    }

    @Test
    void theLastLineIsKeptAndAWrongSumMakesItNothing() throws IOException {
        assertThat(locks.lastLine()).isEqualTo(LineNumber.NONE);
        locks.lastLine(new LineNumber(3, 17));
        assertThat(locks.lastLine()).isEqualTo(new LineNumber(3, 17));

        locks.close();
        try (FileChannel file = FileChannel.open(directory.resolve("claims.lock"), StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(new byte[] {1}), 3);
        }
        locks = openLockFile();

        assertThat(locks.lastLine()).isEqualTo(LineNumber.NONE);
    }
}
