// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.observe.Meters;
import io.micrometer.core.instrument.Metrics;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Syncs of the journal, on a disk whose sync is counted, delayed or fails. */
@Timeout(120)
class JournalSyncTest {

    private static final int CALLERS = 32;

    @TempDir Path directory;
    private final AtomicInteger syncs = new AtomicInteger();
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private final AtomicInteger compactions = new AtomicInteger();
    private volatile boolean broken;
    private volatile boolean compactionBroken;
    private volatile boolean namesBroken;
    private volatile boolean closes;
    private volatile @Nullable Throwable thrown;

    private LockFile locks;

    @BeforeEach
    void openLocks() {
        locks = LockFile.open(directory.resolve("claims.lock"), InstantSource.system());
    }

    @AfterEach
    void closeLocks() {
        locks.close();
    }

    private Path file() {
        return directory.resolve("claims.journal");
    }

    private Journal open() {
        return Journal.open(
                new JournalStore.Place(file(), "boot-1", locks, Meters.none(), this::sync));
    }

    private void sync(FileChannel channel, boolean metadata) throws IOException {
        syncs.incrementAndGet();
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new IOException("the writer's thread was interrupted", e);
        }
        if (metadata) { // only a new file needs that
            compactions.incrementAndGet();
        }
        if (closes) {
            channel.close();
            throw new ClosedChannelException();
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        boolean isName = metadata && !Files.exists(Path.of(file() + ".new"));
        if (broken || metadata && compactionBroken || isName && namesBroken) {
            throw new IOException("Input/output error");
        }
    }

    @Test
    void callsThatComeWhileTheDiskIsBusyShareOneSync() throws Exception {
        try (Journal journal = open()) {
            gate = new CountDownLatch(1);
            int before = syncs.get();
            List<Thread> callers = new ArrayList<>();
            callers.add(caller(journal, "uid-first"));
            await(() -> syncs.get() == before + 1);
            for (int i = 1; i < CALLERS; i++) {
                callers.add(caller(journal, "uid-" + i));
            }
            await(() -> callers.stream().allMatch(t -> t.getState() == Thread.State.WAITING));
            assertThat(journal.claims()).as("nothing counts before it is durable").isEmpty();

            gate.countDown();
            for (Thread caller : callers) {
                caller.join();
            }

            assertThat(journal.claims()).hasSize(CALLERS);
            assertThat(syncs.get() - before).as("syncs of %s calls", CALLERS).isEqualTo(2);
        }
    }

    @Test
    void aCallWhoseSyncFailedIsNotCommittedAfterARestart() throws IOException {
        Journal journal = open();
        journal.put(Records.full("uid-1"));
        long length = Files.size(file());
        broken = true;

        assertThatThrownBy(() -> journal.forget("uid-1"))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("Can't write the journal " + file())
                .hasMessageContaining("Input/output error");

        assertThat(journal.claims()).containsExactly(Records.full("uid-1"));
        assertThat(Files.size(file())).isEqualTo(length);
        broken = false;
        try (Journal restarted = open()) {
            assertThat(restarted.claims()).containsExactly(Records.full("uid-1"));
        }
        journal.put(Records.started("uid-2"));
        assertThat(journal.claims()).hasSize(2);
        journal.close();
    }

    @Test
    void aCompactionThatFailsLosesNothingAndIsNotTriedAtEveryLine() {
        try (Journal journal = open()) {
            compactions.set(0);
            compactionBroken = true;
            for (int i = 0; i < 1100; i++) {
                journal.put(Records.started("uid-1"));
            }
            journal.put(Records.full("uid-2"));

            assertThat(compactions).hasValue(1);
            assertThat(directory.resolve("claims.journal.new")).doesNotExist();
            compactionBroken = false;
        }
        try (Journal restarted = open()) {
            assertThat(restarted.claims())
                    .containsExactly(Records.started("uid-1"), Records.full("uid-2"));
        }
    }

    @Test
    void anErrorIsToldToItsCallersAndTheNextOnesWrite() {
        try (Journal journal = open()) {
            journal.put(Records.full("uid-1"));
            for (Throwable problem :
                    List.of(new StackOverflowError("deep"), new IllegalStateException("odd"))) {
                thrown = problem;
                assertThatThrownBy(() -> journal.put(Records.started("uid-2")))
                        .satisfies(
                                e ->
                                        assertThat(List.of(String.valueOf(e), problem + ""))
                                                .anyMatch(
                                                        text ->
                                                                text.contains(
                                                                        problem.getMessage())));
                thrown = null;
                assertThat(journal.claims()).containsExactly(Records.full("uid-1"));
                journal.forget("uid-2");
            }
        }
        try (Journal restarted = open()) {
            assertThat(restarted.claims()).containsExactly(Records.full("uid-1"));
        }
    }

    @Test
    void aCheckThatThrowsAnErrorIsRefusedWithIt() {
        try (Journal journal = open()) {
            assertThatThrownBy(
                            () ->
                                    journal.put(
                                            Records.started("uid-1"),
                                            claims -> {
                                                throw new StackOverflowError("deep");
                                            }))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("deep");
            journal.put(Records.started("uid-2"));
            assertThat(journal.claims()).containsExactly(Records.started("uid-2"));
        }
    }

    @Test
    void aChannelThatIsClosedUnderItIsOpenedAgain() {
        try (Journal journal = open()) {
            journal.put(Records.full("uid-1"));
            closes = true;
            assertThatThrownBy(() -> journal.put(Records.started("uid-2")))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("ClosedChannelException");
            closes = false;

            journal.put(Records.started("uid-3"));

            assertThat(journal.claim("uid-1")).contains(Records.full("uid-1"));
            assertThat(journal.claim("uid-3")).contains(Records.started("uid-3"));
        }
    }

    @Test
    void aFilesNewNameIsMadeDurableBeforeTheNextLineCounts() throws IOException {
        try (Journal journal = open()) {
            namesBroken = true;
            for (int i = 0; i < 1000; i++) {
                journal.put(Records.started("uid-1"));
            }
            assertThatThrownBy(() -> journal.put(Records.full("uid-1")))
                    .as("a power failure could bring the old file back")
                    .hasMessageContaining("Input/output error");
            assertThat(Files.readAllLines(file())).as("it was compacted").hasSize(2);
            assertThat(locks.lastLine().file()).as("of the old file").isOne();

            namesBroken = false;
            journal.put(Records.full("uid-1"));

            assertThat(locks.lastLine()).isEqualTo(new LineNumber(2, 2));
        }
    }

    @Test
    void theMetersHaveSyncsAndTheSize() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        Tags own = Tags.of("driver", "journal.example.com");
        Metrics.addRegistry(registry);
        try (Meters meters = Meters.global("journal.example.com", "node");
                Journal journal = Journal.open(file(), "boot-1", locks, meters)) {
            journal.put(Records.started("uid-1"));
            locks.journal().close(); // a write returns before the lock is released

            assertThat(registry.get("dra4j.journal.sync.duration").tags(own).timer().count())
                    .isOne();
            assertThat(registry.get("dra4j.journal.size").tags(own).gauge().value())
                    .isEqualTo(file().toFile().length());
        } finally {
            Metrics.removeRegistry(registry);
        }
    }

    private static Thread caller(Journal journal, String uid) {
        Thread caller = new Thread(() -> journal.put(Records.started(uid)), uid);
        caller.start();
        return caller;
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }
}
