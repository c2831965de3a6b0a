// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.runtime.internal.checkpoint.Journal.Check;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Writes what the claims of one kubelet call have to write together, so that they share a sync.
 *
 * <p>A claim that writes waits until every other member has written or left, but only for a short
 * time: then what is there is written. A member that was late then, writes on its own from there
 * on, and keeps nobody waiting. So the same steps of many quick claims cost one sync, and a slow
 * claim delays the others once, by that time.
 *
 * <p>Thread-safe; each member writes on one thread at a time.
 */
public final class WriteGroup {

    private final Journal journal;
    private final Duration patience;
    private final Set<String> members; // guarded by this
    private final List<Write> gathered = new ArrayList<>(); // guarded by this

    WriteGroup(Journal journal, Set<String> uids, Duration patience) {
        this.journal = journal;
        this.patience = patience;
        this.members = new HashSet<>(uids);
    }

    /** Does what {@link Journal#put(ClaimRecord)} does. */
    public void put(ClaimRecord claim) {
        write(Write.put(claim, Check.NONE));
    }

    /** Does what {@link Journal#put(ClaimRecord, Check)} does. */
    public void put(ClaimRecord claim, Check check) {
        write(Write.put(claim, check));
    }

    /** Does what {@link Journal#forget} does. */
    public void forget(String uid) {
        write(Write.forget(uid));
    }

    /** Says that a member will write no more; writes of it are written at once from now on. */
    public synchronized void leave(String uid) {
        members.remove(uid);
        writeIfAllAreThere();
    }

    private void write(Write write) {
        gather(write);
        if (!write.isDoneWithin(patience)) {
            goOnWithoutTheLate(write);
        }
        journal.await(write);
    }

    private synchronized void gather(Write write) {
        if (members.contains(write.uid())) {
            gathered.add(write);
            writeIfAllAreThere();
        } else {
            journal.submit(List.of(write));
        }
    }

    private synchronized void goOnWithoutTheLate(Write impatient) {
        if (gathered.contains(impatient)) {
            members.clear();
            gathered.forEach(write -> members.add(write.uid()));
            writeIfAllAreThere();
        }
    }

    private void writeIfAllAreThere() {
        if (!gathered.isEmpty() && gathered.size() >= members.size()) {
            journal.submit(List.copyOf(gathered));
            gathered.clear();
        }
    }
}
