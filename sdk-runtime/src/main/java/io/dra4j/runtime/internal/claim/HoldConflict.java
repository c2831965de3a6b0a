// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Why a claim can't have a device: what is wanted, and who holds it.
 *
 * @param problem a sentence for the owner of a pod; it names no claim
 * @param holders the claims that are in the way
 */
record HoldConflict(String problem, List<ClaimRecord> holders) {

    HoldConflict {
        holders = List.copyOf(holders);
    }

    /**
     * Refuses the claim.
     *
     * @throws PrepareException always: the owner of the pod hears no other claim's name, and the
     *     log hears them all from the cause
     */
    void refuse() {
        String strangers =
                holders.stream()
                        .map(holder -> OwnerText.stranger(holder.ref().uid()))
                        .collect(Collectors.joining(", "));
        String names =
                holders.stream()
                        .map(holder -> holder.ref() + " " + holder.phase())
                        .collect(Collectors.joining(", "));
        throw new PrepareException(
                problem + " by " + strangers + "; it is free when that is unprepared",
                new DraException("Held by " + names));
    }
}
