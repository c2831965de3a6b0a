// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ClaimRef;
import java.util.List;

/**
 * The devices of a claim that one entry of its configuration applies to.
 *
 * @param name the entry by its source and place, {@code FROM_CLAIM-0}, also part of a file name
 * @param settings the sharing that the entry requests
 * @param devices the devices in the allocation's order
 */
public record SharedGroup(ClaimRef claim, String name, SharingSettings settings, List<SharedDevice> devices) {

    public SharedGroup {
        devices = List.copyOf(devices);
    }
}
