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
 * @param isSynced whether a power failure must not take it back; otherwise the next sync includes it
 * @param durable completed when it is written, and synced if it must be, or when that fails
 */
record Write(
        Entry entry, byte[] record, Consumer<ClaimIndex> check, boolean isSynced, CompletableFuture<Void> durable) {

    static Write put(ClaimRecord claim, Consumer<ClaimIndex> check) {
        return of(Entry.put(claim), check, true);
    }

    /** A record of a claim that leaves nothing if a power failure takes the record back. */
    static Write putUnsynced(ClaimRecord claim, Consumer<ClaimIndex> check) {
        return of(Entry.put(claim), check, false);
    }

    /** If a power failure takes it back, the claim is UNPREPARING of an earlier boot, and is unprepared once more. */
    static Write forget(String uid) {
        return of(Entry.forget(uid), committed -> {}, false);
    }

    static Write foundAll() {
        return of(Entry.foundAll(), committed -> {}, true);
    }

    private static Write of(Entry entry, Consumer<ClaimIndex> check, boolean isSynced) {
        return new Write(entry, JournalFormat.encode(entry), check, isSynced, new CompletableFuture<>());
    }

    String uid() {
        return String.valueOf(entry.uid());
    }

    /** Returns whether it leads to free devices. */
    boolean releases() {
        ClaimRecord claim = entry.put();
        return claim == null || claim.phase() == Phase.UNPREPARING;
    }

    void fail(Throwable cause) {
        durable.completeExceptionally(cause);
    }

    /** Waits until it is done or has failed; an interrupt ends the wait. */
    boolean isDoneWithin(Duration time) {
        try {
            durable.get(time.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (ExecutionException e) {
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // an interrupt must not leave a write half done
            return false;
        }
    }
}
