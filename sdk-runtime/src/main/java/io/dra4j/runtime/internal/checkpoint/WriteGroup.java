// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Groups the writes of the claims in one kubelet call, so that they share a sync.
 *
 * <p>A claim that writes waits until every other member has written or left, but only briefly: then the collected
 * records are written. From then on a late member writes on its own, and delays no other. So the same steps of many
 * quick claims cost one sync, and a slow claim delays the others only once, by at most that time. The member that
 * completes the group does not wait.
 *
 * <p>Thread-safe; each member writes on one thread at a time.
 */
public final class WriteGroup {

    private final Consumer<List<Write>> submit; // the writes share a sync
    private final Consumer<Write> await; // until it is durable
    private final Duration timeout; // of a write that waits for those of the other claims
    private final Set<String> members; // guarded by this
    private final List<Write> gathered = new ArrayList<>(); // guarded by this

    WriteGroup(Consumer<List<Write>> submit, Consumer<Write> await, Set<String> uids, Duration timeout) {
        this.submit = submit;
        this.await = await;
        this.timeout = timeout;
        this.members = new HashSet<>(uids);
    }

    public void put(ClaimRecord claim) {
        write(Write.put(claim, committed -> {}));
    }

    /**
     * Sets the record of a claim, durably, if a check of the committed claims allows it.
     *
     * <p>Check and write are one step: no process and no thread writes between them. The check runs
     * on the journal's own thread and must be quick; other writes wait for it.
     *
     * @param check gets the committed claims, a view that must not be kept; if it throws, the write is refused, and the
     *     caller gets the exception unchanged
     */
    public void put(ClaimRecord claim, Consumer<ClaimIndex> check) {
        write(Write.put(claim, check));
    }

    /**
     * Sets the record of a claim that leaves nothing if a power failure takes the record back.
     *
     * <p>Like {@link #put(ClaimRecord, Consumer)}, but the sync is left to the next write that needs one. A crash of
     * the process takes nothing back, and the other process of a rolling update sees the record.
     */
    public void putUnsynced(ClaimRecord claim, Consumer<ClaimIndex> check) {
        write(Write.putUnsynced(claim, check));
    }

    public void forget(String uid) {
        write(Write.forget(uid));
    }

    /** Removes a member, which is expected to write no more; its later writes are not grouped. */
    public synchronized void leave(String uid) {
        members.remove(uid);
        submitIfComplete();
    }

    private void write(Write write) {
        if (isFirstToWait(write) && !write.isDoneWithin(timeout)) {
            submitWithoutLate(write);
        }
        await.accept(write);
    }

    /** Submits a write, or collects it; the first one collected waits with a timer, which costs two wake-ups. */
    private synchronized boolean isFirstToWait(Write write) {
        if (!members.contains(write.uid())) {
            submit.accept(List.of(write));
            return false;
        }
        gathered.add(write);
        submitIfComplete();
        return gathered.size() == 1;
    }

    private synchronized void submitWithoutLate(Write waiting) {
        if (gathered.contains(waiting)) {
            members.clear();
            gathered.forEach(write -> members.add(write.uid()));
            submitIfComplete();
        }
    }

    private void submitIfComplete() {
        if (!gathered.isEmpty() && gathered.size() >= members.size()) {
            submit.accept(List.copyOf(gathered));
            gathered.clear();
        }
    }
}
