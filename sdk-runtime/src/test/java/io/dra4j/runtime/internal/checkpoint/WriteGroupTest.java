// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static io.dra4j.runtime.internal.checkpoint.Records.full;
import static io.dra4j.runtime.internal.checkpoint.Records.started;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class WriteGroupTest extends JournalFixture {

    private static final int MEMBERS = 32;
    private static final Duration FOR_EVER = Duration.ofHours(1);

    private final AtomicInteger syncs = new AtomicInteger();

    @AutoClose
    private Journal journal;

    @BeforeEach
    void openJournal() {
        journal = open((channel, metadata) -> syncs.incrementAndGet());
        syncs.set(0);
    }

    private static Set<String> members() {
        return IntStream.range(0, MEMBERS).mapToObj(i -> "uid-" + i).collect(Collectors.toSet());
    }

    private static void refuseASecond(ClaimIndex claims) {
        if (!claims.all().isEmpty()) {
            throw new DraException("held");
        }
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
        assertThat(System.nanoTime() - start).isLessThan(Duration.ofSeconds(15).toNanos());

        group.put(started("late"));
        assertThat(journal.claims()).hasSize(3);
    }

    @Test
    void aRefusedMemberKeepsNoOtherFromWriting() throws Exception {
        WriteGroup group = journal.group(Set.of("uid-1", "uid-2"), FOR_EVER);

        Consumer<ClaimIndex> refuse = claims -> {
            throw new DraException("held");
        };
        inParallel(Stream.of(
                () -> group.put(started("uid-1")),
                () -> assertThatThrownBy(() -> group.put(started("uid-2"), refuse))
                        .isInstanceOf(DraException.class)
                        .hasMessage("held")));

        assertThat(journal.claims()).containsExactly(started("uid-1"));
    }

    @Test
    void membersAreCheckedOneAfterTheOther() throws Exception {
        WriteGroup group = journal.group(members(), FOR_EVER);
        AtomicInteger refused = new AtomicInteger();

        inParallel(members().stream().<Runnable>map(uid -> () -> {
            try {
                group.put(started(uid), WriteGroupTest::refuseASecond);
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

    @Test
    void ofAClosedJournalSaysSo() {
        WriteGroup group = journal.group(Set.of("uid-1", "uid-2"), Duration.ofMillis(1));
        journal.close();

        assertThatThrownBy(() -> group.put(started("uid-1"))).hasMessageContaining("the driver has stopped");
        group.leave("uid-2");
    }
}
