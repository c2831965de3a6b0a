// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.nvidia.state.SharingRecord;

/**
 * The sharing of a claim that the driver holds.
 *
 * @param claim the claim
 * @param record its sharing by one entry
 */
record HeldSharing(ClaimRef claim, SharingRecord record) {}
