// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.runtime.internal.checkpoint.JournalFormat.Entry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The claims whose records are durable, in the order in which they were first put. Thread-safe. */
final class InForce {

    private Map<String, ClaimRecord> claims = new LinkedHashMap<>(); // guarded by this

    synchronized List<ClaimRecord> list() {
        return List.copyOf(claims.values());
    }

    synchronized Optional<ClaimRecord> claim(String uid) {
        return Optional.ofNullable(claims.get(uid));
    }

    synchronized Map<String, ClaimRecord> copy() {
        return new LinkedHashMap<>(claims);
    }

    synchronized void replace(Map<String, ClaimRecord> all) {
        claims = new LinkedHashMap<>(all);
    }

    synchronized void apply(List<Write> writes) {
        writes.forEach(write -> apply(claims, write.entry()));
    }

    static void apply(Map<String, ClaimRecord> claims, Entry entry) {
        ClaimRecord put = entry.put();
        if (put != null) {
            claims.put(put.ref().uid(), put);
        } else if (entry.forget() != null) {
            claims.remove(entry.forget());
        }
    }
}
