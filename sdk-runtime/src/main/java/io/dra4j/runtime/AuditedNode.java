// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.doctor.Check;
import java.util.List;
import java.util.function.Function;

/**
 * A node as a driver's commands {@code audit} and {@code doctor} see it: read-only.
 *
 * <p>The driver itself may run at the same time, in another process. {@code doctor} reads the devices, for the feature
 * gates that they need, and nothing else.
 */
public interface AuditedNode extends AutoCloseable {

    /**
     * Reads the devices of the node.
     *
     * @param held the claims of the journal; none if it can't be read, and for {@code doctor}
     * @return all that the driver offers, as its provider would
     * @throws io.dra4j.api.error.DraException if they can't be read; they are then not checked,
     *     with its message as the reason
     */
    Inventory inventory(List<HeldClaim> held);

    /**
     * Returns the driver's own checks: contradictions between claims and what only it knows about its hardware.
     *
     * @param claims the claims of the journal; none if it can't be read, and then each check reports "not checked"
     * @return the checks, not yet run; empty by default
     */
    default List<Check> checks(AuditedClaims claims) {
        return List.of();
    }

    @Override
    default void close() {}

    /**
     * The claims of a node's journal, for the checks of a driver.
     *
     * @param bootId the node's current boot
     * @param held the claims
     * @param podDeletion returns the commands by which the pods of a claim are found and deleted
     */
    record AuditedClaims(String bootId, List<HeldClaim> held, Function<ClaimRef, List<String>> podDeletion) {

        /** Copies the list. */
        public AuditedClaims {
            held = List.copyOf(held);
        }

        /** Returns the claims whose preparation began in this boot. */
        public List<HeldClaim> ofThisBoot() {
            return held.stream().filter(claim -> !claim.beforeReboot()).toList();
        }

        /**
         * Returns the commands that delete the pods of a claim, after which the kubelet unprepares it.
         *
         * <p>Pods are found by the claim's UID, in the API or the kubelet's record, and never by its
         * name: another claim may have that name by now.
         *
         * @param claim a claim of the journal
         * @return the commands, at least one; lines that begin with {@code #} describe manual steps
         */
        public List<String> deletePods(ClaimRef claim) {
            return podDeletion.apply(claim);
        }
    }
}
