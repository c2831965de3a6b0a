// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The reason why a claim can't have a device, and the claims that hold it.
 *
 * @param problem a sentence for the owner of a pod; it names no claim
 * @param holders the claims that are in the way
 */
public record HoldConflict(String problem, List<ClaimRecord> holders) {

    public HoldConflict {
        holders = List.copyOf(holders);
    }

    /**
     * Refuses the claim.
     *
     * @throws PrepareException always: the message for the owner of the pod names no other claim,
     *     and the cause, for the log, names them all
     */
    public void refuse() {
        String others =
                holders.stream().map(holder -> anonymous(holder.ref().uid())).collect(Collectors.joining(", "));
        String names = holders.stream()
                .map(holder -> holder.ref() + " " + holder.phase())
                .collect(Collectors.joining(", "));
        throw new PrepareException(
                problem + " by " + others + "; it is free when that is unprepared",
                new DraException("Held by " + names));
    }

    /** Names a claim to those who may not know it: enough to find it in the log, and no more. */
    private static String anonymous(String uid) {
        return "another claim (UID " + uid.substring(0, Math.min(8, uid.length())) + "…)";
    }
}
