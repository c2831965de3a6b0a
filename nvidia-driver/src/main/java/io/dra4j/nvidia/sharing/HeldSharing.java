// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.nvidia.state.ClaimState;
import io.dra4j.nvidia.state.SharingRecord;
import java.util.List;
import java.util.stream.Stream;

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
