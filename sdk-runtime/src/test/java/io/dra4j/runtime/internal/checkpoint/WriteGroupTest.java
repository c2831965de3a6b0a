// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.observe.Meters;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class WriteGroupTest {

    private static final int MEMBERS = 32;
    private static final Duration FOR_EVER = Duration.ofHours(1);

    @TempDir Path directory;
    private final AtomicInteger syncs = new AtomicInteger();
    private final ExecutorService callers = Executors.newCachedThreadPool();
    private LockFile locks;
    private Journal journal;

    @BeforeEach
    void open() {
        locks = LockFile.open(directory.resolve("claims.lock"), InstantSource.system());
        journal =
                Journal.open(
                        new JournalStore.Place(
                                directory.resolve("claims.journal"),
                                "boot-1",
                                locks,
                                Meters.none(),
                                (channel, metadata) -> syncs.incrementAndGet()));
        syncs.set(0);
    }

    @AfterEach
    void close() {
        journal.close();
        locks.close();
        callers.shutdownNow();
    }

    private static Set<String> members() {
        return IntStream.range(0, MEMBERS).mapToObj(i -> "uid-" + i).collect(Collectors.toSet());
    }

    private void inParallel(List<Runnable> calls) throws Exception {
        CompletableFuture.allOf(
                        calls.stream()
                                .map(call -> CompletableFuture.runAsync(call, callers))
                                .toArray(CompletableFuture[]::new))
                .get(20, TimeUnit.SECONDS);
    }

    @Test
    void ofClaimsThatRecordNothingCostsTwoSyncs() throws Exception {
        WriteGroup group = journal.group(members(), FOR_EVER);

        List<Runnable> prepares = new ArrayList<>();
        for (String uid : members()) {
            prepares.add(
                    () -> {
                        group.put(Records.started(uid));
                        group.put(Records.full(uid));
                        group.leave(uid);
                    });
        }
        inParallel(prepares);

        System.out.printf("a batch of %d claims: %d syncs%n", MEMBERS, syncs.get());
        assertThat(syncs).hasValue(2);
        assertThat(journal.claims()).hasSize(MEMBERS);
    }

    @Test
    void doesNotWaitForMembersWhoLeft() throws Exception {
        WriteGroup group = journal.group(Set.of("uid-1", "uid-2", "uid-3"), FOR_EVER);

        group.leave("uid-3");
        inParallel(List.of(() -> group.put(Records.started("uid-1")), () -> group.leave("uid-2")));

        assertThat(journal.claims()).containsExactly(Records.started("uid-1"));
    }

    @Test
    void waitsForTheLateOnceAndNeverAgain() {
        WriteGroup group = journal.group(Set.of("uid-1", "late"), Duration.ofMillis(1));
        group.put(Records.started("uid-1"));
        WriteGroup slow = journal.group(Set.of("uid-2", "late-too"), Duration.ofMillis(300));

        long start = System.nanoTime();
        slow.put(Records.started("uid-2"));
        assertThat(System.nanoTime() - start).isGreaterThan(Duration.ofMillis(290).toNanos());
        for (int i = 0; i < 100; i++) {
            slow.put(Records.full("uid-2"));
        }
        assertThat(System.nanoTime() - start).isLessThan(Duration.ofSeconds(15).toNanos());

        group.put(Records.started("late"));
        assertThat(journal.claims()).hasSize(3);
    }

    @Test
    void aRefusedMemberKeepsNoOtherFromWriting() throws Exception {
        WriteGroup group = journal.group(Set.of("uid-1", "uid-2"), FOR_EVER);

        inParallel(
                List.of(
                        () -> group.put(Records.started("uid-1")),
                        () ->
                                assertThatThrownBy(
                                                () ->
                                                        group.put(
                                                                Records.started("uid-2"),
                                                                claims -> {
                                                                    throw new DraException("held");
                                                                }))
                                        .isInstanceOf(DraException.class)
                                        .hasMessage("held")));

        assertThat(journal.claims()).containsExactly(Records.started("uid-1"));
    }

    @Test
    void membersAreCheckedOneAfterTheOther() throws Exception {
        WriteGroup group = journal.group(members(), FOR_EVER);
        AtomicInteger refused = new AtomicInteger();

        List<Runnable> prepares = new ArrayList<>();
        for (String uid : members()) {
            prepares.add(
                    () -> {
                        try {
                            group.put(
                                    Records.started(uid),
                                    claims -> {
                                        if (!claims.all().isEmpty()) {
                                            throw new DraException("the device is held");
                                        }
                                    });
                        } catch (DraException e) {
                            refused.incrementAndGet();
                        }
                    });
        }
        inParallel(prepares);

        assertThat(refused).hasValue(MEMBERS - 1);
        assertThat(journal.claims()).hasSize(1);
        assertThat(syncs).hasValue(1);
    }

    @Test
    void anInterruptedMemberWritesWithoutTheOthers() {
        WriteGroup group = journal.group(Set.of("uid-1", "uid-2"), FOR_EVER);

        Thread.currentThread().interrupt();
        group.put(Records.started("uid-1"));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(journal.claims()).hasSize(1);
    }

    @Test
    void ofAClosedJournalSaysSo() {
        WriteGroup group = journal.group(Set.of("uid-1", "uid-2"), Duration.ofMillis(1));
        journal.close();

        assertThatThrownBy(() -> group.put(Records.started("uid-1")))
                .hasMessageContaining("the driver has stopped");
        group.leave("uid-2");
    }
}
