// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.HeldClaim;
import java.util.List;

/**
 * A claim that is prepared in this boot.
 *
 * @param claim the claim as its provider sees it
 * @param pods the pods that it was reserved for when it was prepared
 */
public record ClaimInUse(HeldClaim claim, List<String> pods) {

    public ClaimInUse {
        pods = List.copyOf(pods);
    }
}
