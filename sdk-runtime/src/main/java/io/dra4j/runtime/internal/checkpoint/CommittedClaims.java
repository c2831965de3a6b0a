// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.claim.HeldClaim.Phase;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The claims whose records are durable, in the order in which they were first put. Thread-safe. */
final class CommittedClaims {

    // Guarded by this: the claims, and a copy of them that is valid until they change.
    private Map<String, ClaimRecord> claims = new LinkedHashMap<>();
    private @Nullable List<ClaimRecord> list;
    private final Map<String, ClaimRecord> unsettled = new LinkedHashMap<>(); // few, even if there are many claims
    private final String bootId;

    CommittedClaims(String bootId) {
        this.bootId = bootId;
    }

    synchronized List<ClaimRecord> list() {
        List<ClaimRecord> known = list;
        if (known == null) {
            known = List.copyOf(claims.values());
            list = known;
        }
        return known;
    }

    /** Returns the claims that are not prepared in this boot. */
    synchronized List<ClaimRecord> unsettled() {
        return List.copyOf(unsettled.values());
    }

    synchronized Optional<ClaimRecord> claim(String uid) {
        return Optional.ofNullable(claims.get(uid));
    }

    synchronized void replace(Map<String, ClaimRecord> all) {
        claims = new LinkedHashMap<>(all);
        list = null;
        unsettled.clear();
        claims.values().forEach(this::settle);
    }

    synchronized void apply(List<Write> writes) {
        list = null;
        for (Write write : writes) {
            write.entry().applyTo(claims);
            unsettled.remove(write.uid());
            claim(write.uid()).ifPresent(this::settle);
        }
    }

    private void settle(ClaimRecord claim) {
        if (claim.phase() != Phase.PREPARED || !claim.bootId().equals(bootId) || claim.isUnprepareSkipped()) {
            unsettled.put(claim.ref().uid(), claim);
        }
    }
}
