// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
import static io.dra4j.runtime.internal.checkpoint.Records.full;
import static io.dra4j.runtime.internal.checkpoint.Records.record;
import static io.dra4j.runtime.internal.checkpoint.Records.shown;
import static io.dra4j.runtime.internal.checkpoint.Records.started;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.checkpoint.BootId.BootMark;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.Scenarios;
import io.micrometer.core.instrument.Gauge;
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

/** Syncs of the journal, on a disk whose sync is counted, delayed or fails, as journal-syncs.txt says. */
@Timeout(120)
class JournalSyncTest extends JournalFixture implements ScenarioSteps {

    private static final int CALLERS = 32;
    private static final JournalFile.Sync NONE = (channel, metadata) -> {};

    private final AtomicInteger syncs = new AtomicInteger();
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private final AtomicInteger compactions = new AtomicInteger();
    private volatile JournalFile.Sync fault = NONE;
    private Journal opened;
    private WriteGroup group;
    private byte[] marked = {};
    private LineNumber last = LineNumber.NONE;

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

    /** A disk in a state. A new file has its final name once there is none beside it. */
    private JournalFile.Sync disk(String how) {
        return (channel, metadata) -> {
            boolean isRenamed = !Files.exists(Path.of(file + ".new"));
            switch (how) {
                case "works" -> {}
                case "fails" -> fail(true);
                case "fails-for-new-files" -> fail(metadata);
                case "fails-for-new-names" -> fail(metadata && isRenamed);
                case "overflows" -> throw new StackOverflowError("deep");
                case "has-a-bug" -> throw new IllegalStateException("odd");
                case "closes" -> {
                    channel.close();
                    throw new ClosedChannelException();
                }
                default -> throw new IllegalArgumentException(how);
            }
        };
    }

    private static void fail(boolean fails) throws IOException {
        if (fails) {
            throw new IOException("Input/output error");
        }
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "open" -> opened = openWatched();
            case "close" -> opened.close();
            case "disk" -> fault = disk(words[1]);
            case "put" -> opened.put(record(words[1]));
            case "put-many" -> {
                for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                    opened.put(started("uid-" + i));
                }
            }
            case "cannot-put" ->
                assertFails(
                        () -> opened.put(record(words[1])),
                        text.replace("{file}", file.toString()).split(" \\| "));
            case "put-throws" ->
                assertThatThrownBy(() -> opened.put(record(words[1]))).hasMessageContaining(text);
            case "cannot-check" ->
                assertFails(
                        () -> opened.group(Set.of()).put(record(words[1]), claims -> {
                            throw new StackOverflowError("deep");
                        }),
                        text);
            case "put-unsynced" -> {
                group = opened.group(Set.of("uid-1"));
                group.putUnsynced(record(words[1]), committed -> {});
            }
            case "put-in-group" -> group.put(record(words[1]));
            case "cannot-put-in-group" -> assertFails(() -> group.put(record(words[1])), text);
            case "forget" -> opened.forget(words[1]);
            case "mark" -> {
                syncs.set(0);
                compactions.set(0);
                marked = Files.readAllBytes(file);
                last = locks.lastLine();
            }
            case "power-fails" -> Files.write(file, marked);
            case "lose-bytes" ->
                Files.write(
                        file,
                        Arrays.copyOf(Files.readAllBytes(file), (int) Files.size(file) - Integer.parseInt(words[1])));
            default -> compare(words, text);
        }
    }

    private void compare(String[] words, String text) throws IOException {
        switch (words[0]) {
            case "has" -> assertThat(list(shown(opened.claims()))).isEqualTo(text);
            case "holds" -> assertThat(opened.claim(words[1].split("=")[0])).contains(record(words[1]));
            case "reread" -> assertThat(list(shown(reread()))).isEqualTo(text);
            case "reread-many" -> assertThat(reread()).hasSize(Integer.parseInt(words[1]));
            case "no-damage" -> assertThat(opened.loss().isDamage()).isFalse();
            case "syncs" -> assertThat(syncs).hasValue(Integer.parseInt(words[1]));
            case "compactions" -> assertThat(compactions).hasValue(Integer.parseInt(words[1]));
            case "lines" -> assertNumber(Files.readAllLines(file).size(), words, text);
            case "same-size" -> assertThat(file).hasSize(marked.length);
            case "same-last-line" -> assertThat(locks.lastLine()).isEqualTo(last);
            case "last-line" ->
                assertThat(locks.lastLine())
                        .isEqualTo(new LineNumber(Long.parseLong(words[1]), Long.parseLong(words[2])));
            case "last-file" -> assertThat(locks.lastLine().file()).isEqualTo(Long.parseLong(words[1]));
            case "no-new-file" ->
                assertThat(directory.resolve("claims.journal.new")).doesNotExist();
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("journal-syncs.txt")
    void whatCountsIsOnTheDisk(String scenario) throws Exception {
        play(scenario);
        opened.close();
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
            Gauge size = registry.get("dra4j.journal.size.bytes").tags(own).gauge();
            assertThat(size.value()).isEqualTo(file.toFile().length());
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
            fault = (channel, metadata) -> fail(!Files.exists(Path.of(mark + ".new")));
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
