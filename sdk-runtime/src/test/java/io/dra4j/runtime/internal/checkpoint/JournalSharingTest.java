// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static io.dra4j.runtime.internal.checkpoint.Records.full;
import static io.dra4j.runtime.internal.checkpoint.Records.started;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two who have one journal open, step by step. */
@Timeout(120)
class JournalSharingTest extends JournalFixture {

    @AutoClose
    private LockFile newLocks;

    @AutoClose
    private Journal older;

    @AutoClose
    private Journal newer;

    @BeforeEach
    void openBoth() {
        older = open();
        older.put(full("uid-1"));
        newLocks = openLockFile();
        newer = Records.openWithoutSync(file, newLocks);
    }

    private void assertBothSay(ClaimRecord... claims) {
        assertThat(older.claims()).containsExactly(claims);
        assertThat(newer.claims()).containsExactly(claims);
        try (LockFile others = openLockFile();
                Journal third = Records.openWithoutSync(file, others)) {
            assertThat(third.claims()).containsExactly(claims);
            assertThat(third.loss()).isEqualTo(JournalLoss.NONE);
        }
        assertThat(List.of(older.loss(), newer.loss())).containsOnly(JournalLoss.NONE);
    }

    @Test
    void eachSeesAtOnceWhatTheOtherWrote() {
        newer.put(started("uid-2"));
        assertThat(older.claim("uid-2")).contains(started("uid-2"));
        older.put(full("uid-2"));
        newer.forget("uid-1");

        assertBothSay(full("uid-2"));
    }

    @Test
    void oneGoesOnWhenTheOtherHasCompacted() {
        for (int i = 0; i < 1100; i++) {
            newer.put(started("uid-2"));
        }
        older.put(full("uid-3"));
        for (int i = 0; i < 1100; i++) {
            older.put(started("uid-2"));
        }
        newer.put(full("uid-4"));

        assertBothSay(full("uid-1"), started("uid-2"), full("uid-3"), full("uid-4"));
    }

    @Test
    void theEndOfOneLosesNothingOfTheOther() {
        older.forget("uid-1");
        older.close();
        newer.put(started("uid-2"));

        assertThat(newer.claims()).containsExactly(started("uid-2"));
        assertThat(newer.loss()).isEqualTo(JournalLoss.NONE);
    }

    @Test
    void aDeviceIsGivenToOneThoughBothCheckAtTheSameTime() throws Exception {
        int rounds = 200;
        AtomicInteger winners = new AtomicInteger();
        for (int round = 0; round < rounds; round++) {
            inParallel(Stream.of(() -> compete(older, "uid-a", winners), () -> compete(newer, "uid-b", winners)));

            assertThat(winners).hasValue(round + 1);
            older.forget("uid-a");
            newer.forget("uid-b");
        }
        System.out.println(rounds + " rounds of two journals for one device: one winner each");
        assertBothSay(full("uid-1"));
    }

    private static void compete(Journal journal, String uid, AtomicInteger winners) {
        try {
            journal.put(started(uid), JournalSharingTest::refuseASecond);
            winners.incrementAndGet();
        } catch (DraException e) {
            assertThat(e).hasMessage("held");
        }
    }

    private static void refuseASecond(ClaimIndex claims) {
        if (claims.all().stream().anyMatch(claim -> claim.phase() == Phase.PREPARING)) {
            throw new DraException("held");
        }
    }

    @Test
    void halfALineOfOneThatDiedIsCutByTheOther() throws IOException {
        Files.writeString(file, "{\"file\":1,\"line\":2,\"cla", StandardOpenOption.APPEND);

        assertThat(older.claims()).containsExactly(full("uid-1"));
        newer.put(started("uid-2"));

        assertThat(older.claims()).hasSize(2);
        assertThat(older.loss()).isEqualTo(new JournalLoss(true, 0, Set.of(), true));
    }

    @Test
    void aFileThatIsRemovedByHandIsWrittenAgainFromMemory() throws IOException {
        newer.put(started("uid-2"));
        assertThat(older.claims()).hasSize(2);
        Files.delete(file);

        older.put(full("uid-3"));

        assertBothSay(full("uid-1"), started("uid-2"), full("uid-3"));
    }

    @Test
    void aFileThatIsCutByHandIsWrittenAgainFromTheMemoryOfTheOneThatWroteLast() throws IOException {
        newer.put(started("uid-2"));
        try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
            channel.truncate(500);
        }

        assertThat(newer.claims()).hasSize(2);
        assertBothSay(full("uid-1"), started("uid-2"));
    }

    @Test
    void aFileThatIsCutDuringAWriteIsWrittenAgainToo() throws Exception {
        JournalFile.Sync cutting = (channel, metadata) -> {
            if (!metadata) {
                channel.truncate(500);
            }
        };
        try (Journal cut = open(cutting)) {
            cut.put(started("uid-2"));
            locks.journal().close(); // a write returns before the lock is released

            assertThat(cut.claims()).hasSize(2);
            assertBothSay(full("uid-1"), started("uid-2"));
        }
    }

    @Test
    void aDirectoryThatIsGoneForAWhileFailsWritesAndLosesNothing() throws IOException {
        Path elsewhere = directory.resolveSibling(directory.getFileName() + "-elsewhere");
        Files.move(directory, elsewhere);
        try {
            assertFails(
                    () -> older.put(started("uid-2")),
                    "Can't write the journal " + file,
                    "check that its directory exists");
        } finally {
            Files.move(elsewhere, directory);
        }
        older.put(started("uid-3"));

        assertBothSay(full("uid-1"), started("uid-3"));
    }
}
