// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.allocation.Allocations;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.ClusterException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;

/**
 * The API server's view of claims that no call of the kubelet ends: a claim has ended when it is deleted, or no longer
 * has any of its devices.
 *
 * <p>A claim whose unprepare the kubelet skips has ended as soon as its allocation differs from what was prepared; a
 * damaged claim, of which not all devices may be known, when it has none of this driver.
 */
final class PresentAllocations {

    private final ClaimReader reader;
    private final Allocations allocations;

    PresentAllocations(ClaimParts parts) {
        this.reader = parts.reader();
        this.allocations = new Allocations(parts.driver(), List.of());
    }

    /**
     * Returns whether a claim has ended.
     *
     * @throws ClusterException if the API server does not answer
     */
    boolean isOver(ClaimRecord claim, Duration limit) {
        try {
            ClaimObject object = reader.read(claim.ref(), limit);
            return !object.uid().equals(claim.ref().uid()) || !isAllocated(claim, object);
        } catch (ClusterException.NotFound e) {
            return true;
        }
    }

    private boolean isAllocated(ClaimRecord claim, ClaimObject object) {
        if (claim.isUnprepareSkipped()) {
            return allocations.isAllocated(object)
                    && new HashSet<>(allocations.devices(claim.ref(), object))
                            .equals(allocations.unidentified(claim.devices()));
        }
        return claim.phase() == Phase.DAMAGED
                ? allocations.isAllocated(object)
                : allocations.isAllocatedAny(object, claim.devices());
    }
}
