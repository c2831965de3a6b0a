// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static io.dra4j.runtime.internal.checkpoint.Records.full;
import static io.dra4j.runtime.internal.checkpoint.Records.started;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.BootId.BootMark;
import io.dra4j.runtime.internal.observe.Meters;
import io.micrometer.core.instrument.Metrics;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Syncs of the journal, on a disk whose sync is counted, delayed or fails. */
@Timeout(120)
class JournalSyncTest extends JournalFixture {

    private static final int CALLERS = 32;
    private static final JournalFile.Sync NONE = (channel, metadata) -> {};

    private final AtomicInteger syncs = new AtomicInteger();
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private final AtomicInteger compactions = new AtomicInteger();
    private volatile JournalFile.Sync fault = NONE;

    private Journal openWatched() {
        return open(this::sync);
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
        fault.force(channel, metadata);
    }

    private static void fail() throws IOException {
        throw new IOException("Input/output error");
    }

    @Test
    void callsThatComeWhileTheDiskIsBusyShareOneSync() throws Exception {
        try (Journal journal = openWatched()) {
            gate = new CountDownLatch(1);
            int before = syncs.get();
            List<Thread> callers = new ArrayList<>();
            callers.add(caller(journal, "uid-first"));
            await(() -> syncs.get() == before + 1);
            for (int i = 1; i < CALLERS; i++) {
                callers.add(caller(journal, "uid-" + i));
            }
            await(() -> callers.stream().allMatch(t -> t.getState() == Thread.State.WAITING));
            assertThat(journal.claims())
                    .as("nothing counts before it is durable")
                    .isEmpty();

            gate.countDown();
            for (Thread caller : callers) {
                caller.join();
            }

            assertThat(journal.claims()).hasSize(CALLERS);
            assertThat(syncs.get() - before).as("syncs of %s calls", CALLERS).isEqualTo(2);
        }
        assertThat(reread()).hasSize(CALLERS);
    }

    @Test
    void aDiskThatHangsDoesNotKeepItOpen() throws Exception {
        Journal journal = openWatched();
        gate = new CountDownLatch(1);
        int before = syncs.get();
        Thread caller = caller(journal, "uid-1");
        await(() -> syncs.get() == before + 1);

        journal.close();

        assertThat(caller.isAlive()).isTrue();
        gate.countDown();
        caller.join();
        assertThat(reread()).containsExactly(started("uid-1"));
    }

    @Test
    void aCallWhoseSyncFailedIsNotCommittedAfterARestart() throws IOException {
        Journal journal = openWatched();
        journal.put(full("uid-1"));
        long length = Files.size(file);
        fault = (channel, metadata) -> fail();

        assertFails(
                () -> journal.put(full("uid-1").unpreparing()),
                "Can't write the journal " + file,
                "Input/output error");

        assertThat(journal.claims()).containsExactly(full("uid-1"));
        assertThat(Files.size(file)).isEqualTo(length);
        fault = NONE;
        assertThat(reread()).containsExactly(full("uid-1"));
        journal.put(started("uid-2"));
        assertThat(journal.claims()).hasSize(2);
        journal.close();
    }

    @Test
    void aPowerFailureBringsAForgottenClaimBackAsUnpreparing() throws IOException {
        ClaimRecord unpreparing = full("uid-1").unpreparing();
        byte[] synced;
        try (Journal journal = openWatched()) {
            journal.put(full("uid-2")); // a journal without claims is compacted when it is closed
            journal.put(full("uid-1"));
            journal.put(unpreparing);
            int before = syncs.get();
            synced = Files.readAllBytes(file);

            journal.forget("uid-1");

            assertThat(syncs).hasValue(before);
        }
        assertThat(reread()).as("after a crash of the process").containsExactly(full("uid-2"));
        Files.write(file, synced);
        try (Journal restarted = openWatched()) {
            assertThat(restarted.claims()).containsExactly(full("uid-2"), unpreparing);
            assertThat(restarted.loss().isDamage()).isFalse();
        }
    }

    @Test
    void aPowerFailureTakesBackWhatWasPutUnsynced() throws IOException {
        byte[] synced;
        try (Journal journal = openWatched()) {
            journal.put(full("uid-2"));
            int before = syncs.get();
            synced = Files.readAllBytes(file);
            journal.group(Set.of("uid-1")).putUnsynced(started("uid-1"), committed -> {});
            assertThat(syncs).hasValue(before);
        }
        byte[] all = Files.readAllBytes(file);
        assertThat(reread()).as("after a crash of the process").containsExactly(full("uid-2"), started("uid-1"));
        for (byte[] kept : List.of(Arrays.copyOf(all, all.length - 9), synced)) {
            Files.write(file, kept);
            try (Journal restarted = openWatched()) {
                assertThat(restarted.claims()).containsExactly(full("uid-2"));
                assertThat(restarted.loss().isDamage()).isFalse();
            }
        }
    }

    @Test
    void whatWasPutUnsyncedStaysIfTheNextSyncFailsAndIsSyncedByTheOneAfter() {
        try (Journal journal = openWatched()) {
            WriteGroup group = journal.group(Set.of("uid-1"));
            group.putUnsynced(started("uid-1"), committed -> {});
            fault = (channel, metadata) -> fail();
            assertFails(() -> group.put(full("uid-1")), "Input/output error");
            assertThat(journal.claims()).containsExactly(started("uid-1"));

            fault = NONE;
            int before = syncs.get();
            group.put(full("uid-1"));
            assertThat(syncs).hasValue(before + 1);
        }
        assertThat(reread()).containsExactly(full("uid-1"));
    }

    @Test
    void aCompactionThatFailsLosesNothingAndIsNotTriedAtEveryLine() {
        try (Journal journal = openWatched()) {
            compactions.set(0);
            fault = (channel, metadata) -> {
                if (metadata) {
                    fail();
                }
            };
            for (int i = 0; i < 1100; i++) {
                journal.put(started("uid-1"));
            }
            journal.put(full("uid-2"));

            assertThat(compactions).hasValue(1);
            assertThat(directory.resolve("claims.journal.new")).doesNotExist();
            fault = NONE;
        }
        assertThat(reread()).containsExactly(started("uid-1"), full("uid-2"));
    }

    @Test
    void anErrorIsToldToItsCallersAndTheNextOnesWrite() {
        try (Journal journal = openWatched()) {
            journal.put(full("uid-1"));
            Map<String, JournalFile.Sync> faults = Map.of(
                    "StackOverflowError: deep",
                    (channel, metadata) -> {
                        throw new StackOverflowError("deep");
                    },
                    "odd",
                    (channel, metadata) -> {
                        throw new IllegalStateException("odd");
                    });
            faults.forEach((message, failing) -> {
                fault = failing;
                assertThatThrownBy(() -> journal.put(started("uid-2"))).hasMessageContaining(message);
                fault = NONE;
                assertThat(journal.claims()).containsExactly(full("uid-1"));
                journal.forget("uid-2");
            });
        }
        assertThat(reread()).containsExactly(full("uid-1"));
    }

    @Test
    void aCheckThatThrowsAnErrorIsRefusedWithIt() {
        try (Journal journal = openWatched()) {
            assertFails(
                    () -> journal.put(started("uid-1"), claims -> {
                        throw new StackOverflowError("deep");
                    }),
                    "deep");
            journal.put(started("uid-2"));
            assertThat(journal.claims()).containsExactly(started("uid-2"));
        }
    }

    @Test
    void aChannelThatIsClosedUnderItIsOpenedAgain() {
        try (Journal journal = openWatched()) {
            journal.put(full("uid-1"));
            fault = (channel, metadata) -> {
                channel.close();
                throw new ClosedChannelException();
            };
            assertFails(() -> journal.put(started("uid-2")), "ClosedChannelException");
            fault = NONE;

            journal.put(started("uid-3"));

            assertThat(journal.claim("uid-1")).contains(full("uid-1"));
            assertThat(journal.claim("uid-3")).contains(started("uid-3"));
        }
    }

    @Test
    void aFileOfClaimsAloneIsReadAndNotCompacted() throws IOException {
        try (Journal journal = openWatched()) {
            for (int i = 0; i < 1100; i++) {
                journal.put(started("uid-" + i));
            }
        }
        LineNumber last = locks.lastLine();

        assertThat(reread()).hasSize(1100);

        assertThat(locks.lastLine()).as("of the same file").isEqualTo(last);
    }

    @Test
    void linesThatWereReadCountForTheNextCompaction() throws IOException {
        try (Journal journal = openWatched()) {
            for (int i = 0; i < 600; i++) {
                journal.put(started("uid-1"));
            }
        }
        try (Journal restarted = openWatched()) {
            for (int i = 0; i < 600; i++) {
                restarted.put(started("uid-1"));
            }
        }
        assertThat(Files.readAllLines(file)).hasSizeLessThan(600);
    }

    @Test
    void aFilesNewNameIsMadeDurableBeforeTheNextLineCounts() throws IOException {
        try (Journal journal = openWatched()) {
            fault = (channel, metadata) -> {
                if (metadata && !Files.exists(Path.of(file + ".new"))) {
                    fail();
                }
            };
            for (int i = 0; i < 1000; i++) {
                journal.put(started("uid-1"));
            }
            assertThatThrownBy(() -> journal.put(full("uid-1")))
                    .as("a power failure could bring the old file back")
                    .hasMessageContaining("Input/output error");
            assertThat(Files.readAllLines(file)).as("it was compacted").hasSize(2);
            assertThat(locks.lastLine().file()).as("of the old file").isOne();

            fault = NONE;
            journal.put(full("uid-1"));

            assertThat(locks.lastLine()).isEqualTo(new LineNumber(2, 2));
        }
    }

    @Test
    void theMetersHaveSyncsAndTheSize() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        Tags own = Tags.of("driver", "journal.example.com");
        Metrics.addRegistry(registry);
        try (Meters meters = Meters.global("journal.example.com", "node");
                Journal journal = Journal.open(file, "boot-1", locks, meters)) {
            journal.put(started("uid-1"));
            locks.journal().close(); // a write returns before the lock is released

            assertThat(registry.get("dra4j.journal.sync.duration")
                            .tags(own)
                            .timer()
                            .count())
                    .isOne();
            assertThat(registry.get("dra4j.journal.size").tags(own).gauge().value())
                    .isEqualTo(file.toFile().length());
        } finally {
            Metrics.removeRegistry(registry);
        }
    }

    @Test
    void theBootsMarkIsOnTheDiskOnceForEachBoot() throws IOException {
        Path mark = file.resolveSibling("claims.boot");
        Files.writeString(mark, "boot-0\n");
        try (Journal journal = openWatched()) {
            BootMark written = journal.bootMark();
            assertThat(written.isOfEarlierBoot()).isTrue();
            int before = syncs.get();
            fault = (channel, metadata) -> {
                if (!Files.exists(Path.of(mark + ".new"))) {
                    fail();
                }
            };
            assertThatThrownBy(written::write).as("of the name").hasMessageContaining("Input/output error");
            fault = NONE;
            written.write();
            assertThat(syncs.get() - before).as("twice of file and name").isEqualTo(2 + 2);

            written.write();
            journal.bootMark().write();

            assertThat(syncs.get() - before).isEqualTo(4);
            assertThat(mark).hasContent("boot-1");
            assertThat(journal.bootMark().isOfEarlierBoot()).isFalse();
        }
    }

    private static Thread caller(Journal journal, String uid) {
        Thread caller = new Thread(() -> journal.put(started(uid)), uid);
        caller.start();
        return caller;
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    @Nested
    class OfAGroup {

        private static final int MEMBERS = 32;
        private static final Duration FOR_EVER = Duration.ofHours(1);

        @AutoClose
        private Journal journal;

        @BeforeEach
        void openJournal() {
            journal = openWatched();
            syncs.set(0);
        }

        private static void refuseASecond(ClaimIndex claims) {
            if (!claims.all().isEmpty()) {
                throw new DraException("held");
            }
        }

        private static Set<String> members() {
            return IntStream.range(0, MEMBERS).mapToObj(i -> "uid-" + i).collect(Collectors.toSet());
        }

        @Test
        void doesNotWaitForMembersWhoLeft() throws Exception {
            WriteGroup group = journal.group(Set.of("uid-1", "uid-2", "uid-3"), FOR_EVER);

            group.leave("uid-3");
            inParallel(Stream.of(() -> group.put(started("uid-1")), () -> group.leave("uid-2")));

            assertThat(journal.claims()).containsExactly(started("uid-1"));
        }

        @Test
        void whoCompletesAGroupStartsNoTimer() {
            Duration longerThanATimer = Duration.ofSeconds(Long.MAX_VALUE); // which would refuse it
            WriteGroup group = journal.group(Set.of("uid-1"), longerThanATimer);

            group.put(started("uid-1"));
            assertThat(journal.claims()).containsExactly(started("uid-1"));
        }

        @Test
        void waitsForTheLateOnceAndNeverAgain() {
            WriteGroup group = journal.group(Set.of("uid-1", "late"), Duration.ofMillis(1));
            group.put(started("uid-1"));
            WriteGroup slow = journal.group(Set.of("uid-2", "late-too"), Duration.ofMillis(300));

            long start = System.nanoTime();
            slow.put(started("uid-2"));
            assertThat(System.nanoTime() - start)
                    .isGreaterThan(Duration.ofMillis(290).toNanos());
            for (int i = 0; i < 100; i++) {
                slow.put(full("uid-2"));
            }
            assertThat(System.nanoTime() - start)
                    .isLessThan(Duration.ofSeconds(15).toNanos());

            group.put(started("late"));
            assertThat(journal.claims()).hasSize(3);
        }

        @Test
        void membersAreCheckedOneAfterTheOtherAndARefusedOneKeepsNoOtherFromWriting() throws Exception {
            WriteGroup group = journal.group(members(), FOR_EVER);
            AtomicInteger refused = new AtomicInteger();

            inParallel(members().stream().<Runnable>map(uid -> () -> {
                try {
                    group.put(started(uid), OfAGroup::refuseASecond);
                } catch (DraException e) {
                    refused.incrementAndGet();
                }
            }));

            assertThat(refused).hasValue(MEMBERS - 1);
            assertThat(journal.claims()).hasSize(1);
            assertThat(syncs).hasValue(1);
        }

        @Test
        void anInterruptedMemberWritesWithoutTheOthers() {
            WriteGroup group = journal.group(Set.of("uid-1", "uid-2"), FOR_EVER);

            Thread.currentThread().interrupt();
            group.put(started("uid-1"));

            assertThat(Thread.interrupted()).isTrue();
            assertThat(journal.claims()).hasSize(1);
        }
    }
}
