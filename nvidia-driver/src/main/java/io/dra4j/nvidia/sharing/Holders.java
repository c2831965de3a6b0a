// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.nvidia.state.ClaimState;
import io.dra4j.nvidia.state.SharingRecord;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The groups that the driver holds, and the devices of claims whose records are lost.
 *
 * @param held the groups
 * @param claims the UIDs of all claims of this boot, also of those whose records are lost
 * @param damaged the UUIDs of GPUs and MIG devices of claims whose records are lost
 * @param isAnyUnknown whether a claim with a lost record may have any device
 */
public record Holders(List<HeldSharing> held, Set<String> claims, Set<String> damaged, boolean isAnyUnknown) {

    public Holders {
        held = List.copyOf(held);
        claims = Set.copyOf(claims);
        damaged = Set.copyOf(damaged);
    }

    /**
     * Finds the holders.
     *
     * @param all the claims that are held, without one that is leaving
     * @param hardware returns the UUIDs of a device and its GPU; empty if they are not known
     * @throws io.dra4j.api.error.DraException if the record of a claim can't be read
     */
    public static Holders of(List<HeldClaim> all, Function<HeldDevice, Optional<Set<String>>> hardware) {
        List<HeldSharing> held = new ArrayList<>();
        Set<String> claims = new HashSet<>();
        Set<String> damaged = new HashSet<>();
        boolean isAnyUnknown = false;
        for (HeldClaim claim : all) {
            if (!claim.beforeReboot()) {
                claims.add(claim.ref().uid());
                held.addAll(HeldSharing.of(claim).toList());
                if (isLost(claim)) {
                    List<Optional<Set<String>>> found =
                            claim.devices().stream().map(hardware).toList();
                    found.forEach(one -> one.ifPresent(damaged::addAll));
                    isAnyUnknown |= found.isEmpty() || found.contains(Optional.empty());
                }
            }
        }
        return new Holders(held, claims, damaged, isAnyUnknown);
    }

    /** Returns whether the record of a claim, and thus its sharing, is lost. */
    public static boolean isLost(HeldClaim claim) {
        return claim.state() == null && claim.phase() == Phase.DAMAGED;
    }

    /** Returns whether a claim may share a target. */
    public boolean mayHold(String target) {
        return isAnyUnknown
                || damaged.contains(target)
                || held.stream().anyMatch(one -> one.record().targets().contains(target));
    }

    /** The sharing of a claim that the driver holds. */
    record HeldSharing(ClaimRef claim, SharingRecord record) {

        /**
         * Returns the groups of a claim of this boot, from the journal.
         *
         * @throws io.dra4j.api.error.DraException if its record can't be read
         */
        static Stream<HeldSharing> of(HeldClaim claim) {
            List<SharingRecord> records = claim.beforeReboot()
                    ? List.of()
                    : ClaimState.read(claim.state()).sharing();
            return records.stream().map(one -> new HeldSharing(claim.ref(), one));
        }
    }
}
