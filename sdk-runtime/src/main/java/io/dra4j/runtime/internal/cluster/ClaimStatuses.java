// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.claim.ClaimRef;
import java.util.List;

/**
 * The devices in the statuses of claims, in the cluster.
 *
 * <p>Methods block for a few seconds at most, and throw {@link ClusterException}; none retries.
 * Calls may come from any thread.
 */
public interface ClaimStatuses {

    /**
     * Sets a field manager's part of {@code status.devices}, by server-side apply.
     *
     * <p>What the manager applied before and leaves out now is removed; what others wrote stays, except values of the
     * fields that are given: those are taken over from other managers. A driver whose ServiceAccount may not patch
     * statuses gets the same by reading the claim and updating its status.
     *
     * @param fieldManager who owns what is given; at most 128 characters
     * @param devices entries as JSON objects, with driver, pool and device
     * @throws ClusterException.NotFound if there is no claim of that name
     * @throws ClusterException with status 409 or 422 also if the claim has been replaced
     */
    void apply(ClaimRef claim, String fieldManager, List<String> devices);

    /** Returns whether the claim exists, and is not another one of its name. */
    boolean exists(ClaimRef claim);
}
