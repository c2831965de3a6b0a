// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.nvidia.state.ClaimRecorder;
import io.dra4j.nvidia.state.ClaimState;
import io.dra4j.nvidia.state.SharingRecord;
import java.util.List;
import java.util.stream.Stream;

/** The groups of this boot's claims, from the journal. */
final class SharedClaims {

    private SharedClaims() {}

    /**
     * Returns the groups with a part in a target, except one.
     *
     * @param held all claims that are held
     * @param recorder the records of the group's claim
     * @throws io.dra4j.api.error.DraException if the record of a claim can't be read
     */
    static List<HeldSharing> others(
            List<HeldClaim> held, String target, String group, ClaimRef claim, ClaimRecorder recorder) {
        Stream<HeldSharing> ofClaim = recorder.state().sharing().stream()
                .filter(one -> !one.group().equals(group))
                .map(one -> new HeldSharing(claim, one));
        Stream<HeldSharing> ofOthers = held.stream()
                .filter(one -> !one.ref().uid().equals(claim.uid()))
                .flatMap(SharedClaims::groups);
        return Stream.concat(ofClaim, ofOthers)
                .filter(one -> one.record().targets().contains(target))
                .toList();
    }

    static Stream<HeldSharing> groups(HeldClaim claim) {
        List<SharingRecord> records = claim.beforeReboot()
                ? List.of()
                : ClaimState.read(claim.state()).sharing();
        return records.stream().map(one -> new HeldSharing(claim.ref(), one));
    }
}
