// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.observe.Meters;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A directory for a journal, and its lock file, for each test. */
abstract class JournalFixture {

    @TempDir
    Path directory;

    @AutoClose
    LockFile locks;

    Path file;

    @BeforeEach
    final void openLocks() {
        file = directory.resolve("claims.journal");
        locks = openLockFile();
    }

    final LockFile openLockFile() {
        return LockFile.open(directory.resolve("claims.lock"));
    }

    /** Opens the journal on a disk that needs no time. */
    final Journal open() {
        return Records.openWithoutSync(file, locks);
    }

    final Journal open(JournalFile.Sync sync) {
        return Journal.open(new JournalStore.Place(file, "boot-1", locks, Meters.none(), sync));
    }

    /** Writes records, and returns the lines of the file; the first is the header. */
    final List<String> written(ClaimRecord... records) throws IOException {
        try (Journal journal = open()) {
            List.of(records).forEach(journal::put);
        }
        return new ArrayList<>(Files.readAllLines(file, StandardCharsets.ISO_8859_1));
    }

    final List<ClaimRecord> reread() {
        try (Journal journal = open()) {
            return journal.claims();
        }
    }

    static void assertFails(ThrowingCallable call, String... words) {
        assertThatThrownBy(call).isInstanceOf(DraException.class).hasMessageContainingAll(words);
    }

    /** Runs calls at the same time, each on a thread of its own. */
    static void inParallel(Stream<Runnable> calls) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            CompletableFuture.allOf(calls.map(call -> CompletableFuture.runAsync(call, threads))
                            .toArray(CompletableFuture[]::new))
                    .get(20, TimeUnit.SECONDS);
        } finally {
            threads.shutdownNow();
        }
    }
}
