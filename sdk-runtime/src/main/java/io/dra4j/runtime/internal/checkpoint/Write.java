// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Entry;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * A record to be written, encoded by its caller.
 *
 * @param record the entry's bytes
 * @param durable completed when it is written, and synced if it must be, or can't be
 */
record Write(Entry entry, byte[] record, Consumer<ClaimIndex> check, CompletableFuture<Void> durable) {

    static Write put(ClaimRecord claim, Consumer<ClaimIndex> check) {
        return of(Entry.put(claim), check);
    }

    static Write forget(String uid) {
        return of(Entry.forget(uid), committed -> {});
    }

    static Write foundAll() {
        return of(Entry.foundAll(), committed -> {});
    }

    private static Write of(Entry entry, Consumer<ClaimIndex> check) {
        return new Write(entry, JournalFormat.encode(entry), check, new CompletableFuture<>());
    }

    String uid() {
        return String.valueOf(entry.uid());
    }

    /** Returns whether it leads to free devices. */
    boolean releases() {
        ClaimRecord claim = entry.put();
        return claim == null || claim.phase() == Phase.UNPREPARING;
    }

    /**
     * Returns whether it needs no sync of its own: if a power failure takes it back, the claim is
     * UNPREPARING again, of an earlier boot, and is unprepared once more.
     */
    boolean mayComeBack() {
        return entry.forget() != null;
    }

    void fail(Throwable cause) {
        durable.completeExceptionally(cause);
    }

    /** Waits for it, whether it fails or not; an interrupt ends that. */
    boolean isDoneWithin(Duration time) {
        try {
            durable.get(time.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (ExecutionException e) {
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // no reason to leave a write half done
            return false;
        }
    }
}
