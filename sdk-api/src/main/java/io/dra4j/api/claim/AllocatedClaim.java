// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import java.util.List;

/**
 * A claim that is to be prepared, with the devices of this driver.
 *
 * @param ref names the claim
 * @param devices the devices of this driver that the claim was allocated, in the allocation's order
 * @param json the whole ResourceClaim as the API server gave it, as JSON text, for the rare driver
 *     that needs more of it; read-only
 */
public record AllocatedClaim(ClaimRef ref, List<AllocatedDevice> devices, String json) {

    /** Copies the list. */
    public AllocatedClaim {
        devices = List.copyOf(devices);
    }
}
