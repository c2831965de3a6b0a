// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.observe.Meters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two who have one journal open, step by step; {@link JournalProcessesTest} lets them loose. */
@Timeout(120)
class JournalSharingTest {

    @TempDir Path directory;
    private Path file;
    private LockFile oldLocks;
    private LockFile newLocks;
    private Journal older;
    private Journal newer;

    @BeforeEach
    void open() {
        file = directory.resolve("claims.journal");
        oldLocks = LockFile.open(directory.resolve("claims.lock"), InstantSource.system());
        older = Records.openWithoutSync(file, oldLocks);
        older.put(Records.full("uid-1"));
        newLocks = LockFile.open(directory.resolve("claims.lock"), InstantSource.system());
        newer = Records.openWithoutSync(file, newLocks);
    }

    @AfterEach
    void close() {
        newer.close();
        older.close();
        newLocks.close();
        oldLocks.close();
    }

    private void assertBothSay(ClaimRecord... claims) {
        assertThat(older.claims()).containsExactly(claims);
        assertThat(newer.claims()).containsExactly(claims);
        try (LockFile locks =
                        LockFile.open(directory.resolve("claims.lock"), InstantSource.system());
                Journal third = Records.openWithoutSync(file, locks)) {
            assertThat(third.claims()).containsExactly(claims);
            assertThat(third.loss()).isEqualTo(Loss.NONE);
        }
        assertThat(List.of(older.loss(), newer.loss())).containsOnly(Loss.NONE);
    }

    @Test
    void eachSeesAtOnceWhatTheOtherWrote() {
        newer.put(Records.started("uid-2"));
        assertThat(older.claim("uid-2")).contains(Records.started("uid-2"));
        older.put(Records.full("uid-2"));
        newer.forget("uid-1");

        assertBothSay(Records.full("uid-2"));
    }

    @Test
    void oneGoesOnWhenTheOtherHasCompacted() {
        for (int i = 0; i < 1100; i++) {
            newer.put(Records.started("uid-2"));
        }
        older.put(Records.full("uid-3"));
        for (int i = 0; i < 1100; i++) {
            older.put(Records.started("uid-2"));
        }
        newer.put(Records.full("uid-4"));

        assertBothSay(
                Records.full("uid-1"),
                Records.started("uid-2"),
                Records.full("uid-3"),
                Records.full("uid-4"));
    }

    @Test
    void theEndOfOneLosesNothingOfTheOther() {
        older.forget("uid-1");
        older.close();
        newer.put(Records.started("uid-2"));

        assertThat(newer.claims()).containsExactly(Records.started("uid-2"));
        assertThat(newer.loss()).isEqualTo(Loss.NONE);
    }

    @Test
    void aDeviceIsGivenToOneThoughBothCheckAtTheSameTime() throws Exception {
        int rounds = 200;
        AtomicInteger winners = new AtomicInteger();
        for (int round = 0; round < rounds; round++) {
            CompletableFuture<Void> first = compete(older, "uid-a", winners);
            compete(newer, "uid-b", winners).get(20, TimeUnit.SECONDS);
            first.get(20, TimeUnit.SECONDS);

            assertThat(winners).hasValue(round + 1);
            older.forget("uid-a");
            newer.forget("uid-b");
        }
        System.out.println(rounds + " rounds of two journals for one device: one winner each");
        assertBothSay(Records.full("uid-1"));
    }

    private static CompletableFuture<Void> compete(
            Journal journal, String uid, AtomicInteger winners) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        journal.put(
                                Records.started(uid),
                                claims -> {
                                    if (claims.all().stream()
                                            .anyMatch(claim -> claim.phase() == Phase.STARTED)) {
                                        throw new DraException("held");
                                    }
                                });
                        winners.incrementAndGet();
                    } catch (DraException e) {
                        assertThat(e).hasMessage("held");
                    }
                });
    }

    @Test
    void halfALineOfOneThatDiedIsCutByTheOther() throws IOException {
        Files.writeString(file, "{\"file\":1,\"line\":2,\"cla", StandardOpenOption.APPEND);

        assertThat(older.claims()).containsExactly(Records.full("uid-1"));
        newer.put(Records.started("uid-2"));

        assertThat(older.claims()).hasSize(2);
        assertThat(older.loss()).isEqualTo(new Loss(true, 0, Set.of(), true));
    }

    @Test
    void aFileThatIsRemovedByHandIsWrittenAgainFromMemory() throws IOException {
        newer.put(Records.started("uid-2"));
        assertThat(older.claims()).hasSize(2);
        Files.delete(file);

        older.put(Records.full("uid-3"));

        assertBothSay(Records.full("uid-1"), Records.started("uid-2"), Records.full("uid-3"));
    }

    @Test
    void aFileThatIsCutByHandIsWrittenAgainFromTheMemoryOfTheOneThatWroteLast() throws IOException {
        newer.put(Records.started("uid-2"));
        try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
            channel.truncate(500);
        }

        assertThat(newer.claims()).hasSize(2);
        assertBothSay(Records.full("uid-1"), Records.started("uid-2"));
    }

    @Test
    void aFileThatIsCutDuringAWriteIsWrittenAgainToo() throws Exception {
        JournalFile.Sync cutting =
                (channel, metadata) -> {
                    if (!metadata) {
                        channel.truncate(500);
                    }
                };
        try (Journal cut =
                Journal.open(
                        new JournalStore.Place(file, "boot-1", newLocks, Meters.none(), cutting))) {
            cut.put(Records.started("uid-2"));
            newLocks.journal().close(); // a write returns before the lock is released

            assertThat(cut.claims()).hasSize(2);
            assertBothSay(Records.full("uid-1"), Records.started("uid-2"));
        }
    }

    @Test
    void aDirectoryThatIsGoneForAWhileFailsWritesAndLosesNothing() throws IOException {
        Path elsewhere = directory.resolveSibling(directory.getFileName() + "-elsewhere");
        Files.move(directory, elsewhere);
        try {
            assertThatThrownBy(() -> older.put(Records.started("uid-2")))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("Can't write the journal " + file)
                    .hasMessageContaining("see that its directory is there");
        } finally {
            Files.move(elsewhere, directory);
        }
        older.put(Records.started("uid-3"));

        assertBothSay(Records.full("uid-1"), Records.started("uid-3"));
    }
}
