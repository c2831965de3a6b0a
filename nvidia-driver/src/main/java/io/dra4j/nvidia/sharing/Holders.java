// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The groups that the driver holds, and the devices of claims whose records are lost.
 *
 * @param held the groups
 * @param claims the UIDs of all claims that are held, also of those whose records are lost
 * @param damaged the UUIDs of GPUs and MIG devices of claims whose records are lost
 * @param isAnyUnknown whether a claim with a lost record may have any device
 */
public record Holders(
        List<HeldSharing> held, Set<String> claims, Set<String> damaged, boolean isAnyUnknown) {

    /** Copies the collections. */
    public Holders {
        held = List.copyOf(held);
        claims = Set.copyOf(claims);
        damaged = Set.copyOf(damaged);
    }

    /** Returns whether a claim may share a target. */
    public boolean mayHold(String target) {
        Set<String> targets = new HashSet<>(damaged);
        held.forEach(one -> targets.addAll(one.record().targets()));
        return isAnyUnknown || targets.contains(target);
    }
}
