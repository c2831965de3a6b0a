// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import java.util.List;
import java.util.function.Function;

/**
 * The claims of a node's journal, for the checks of a driver.
 *
 * @param bootId the node's present boot
 * @param held the claims
 * @param podDeletion returns the commands by which the pods of a claim are found and deleted
 */
public record AuditedClaims(String bootId, List<HeldClaim> held, Function<ClaimRef, List<String>> podDeletion) {

    /** Copies the list. */
    public AuditedClaims {
        held = List.copyOf(held);
    }

    /** Returns the claims that this boot has prepared, or begun to. */
    public List<HeldClaim> ofThisBoot() {
        return held.stream().filter(claim -> !claim.beforeReboot()).toList();
    }

    /**
     * Returns the commands that delete the pods of a claim, after which the kubelet unprepares it.
     *
     * <p>Pods are found by the claim's UID, in the API or the kubelet's record, and never by its
     * name alone: another claim may have that by now.
     *
     * @param claim a claim of the journal
     * @return the commands, at least one; lines that begin with {@code #} say what no command does
     */
    public List<String> deletePods(ClaimRef claim) {
        return podDeletion.apply(claim);
    }
}
