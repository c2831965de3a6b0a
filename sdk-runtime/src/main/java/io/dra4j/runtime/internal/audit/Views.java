// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.audit.KubeletState.KubeletClaim;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.JournalReading;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The views of a node's claims that are held against each other.
 *
 * @param bootId the node's present boot
 * @param journal the driver's own record
 * @param specs the driver's CDI specs
 * @param kubelet the kubelet's record
 * @param claims the claims in the API that have devices of the driver
 * @param hardware the devices that the node has
 * @param other the record of another driver of this name
 */
record Views(
        AuditedDriver driver,
        String bootId,
        View<JournalReading> journal,
        View<SpecFiles> specs,
        View<KubeletState> kubelet,
        View<Map<ClaimRef, ClaimObject>> claims,
        View<Inventory> hardware,
        View<OtherCheckpoint> other) {

    /** Returns all claims of the journal. */
    List<ClaimRecord> recorded() {
        return journal.get().claims();
    }

    /** Returns the claims of the journal that are prepared in this boot. */
    List<ClaimRecord> prepared() {
        return recorded().stream()
                .filter(claim -> claim.phase() == Phase.PREPARED && isOfThisBoot(claim))
                .toList();
    }

    boolean isOfThisBoot(ClaimRecord claim) {
        return claim.bootId().equals(bootId);
    }

    /**
     * Requires the API's claims, even where there is nothing to compare them with.
     *
     * @throws io.dra4j.doctor.NotCheckedException if they could not be read
     */
    void requireClaims() {
        claims.get();
    }

    boolean isRecorded(String uid) {
        return recorded().stream().anyMatch(claim -> claim.ref().uid().equals(uid));
    }

    /** Returns the object of a claim with just this UID. */
    Optional<ClaimObject> object(ClaimRef ref) {
        return present(ref.uid()).map(claims.get()::get);
    }

    /** Returns the claim of a UID as the API server names it; a damaged record does not. */
    Optional<ClaimRef> present(String uid) {
        return claims.get().keySet().stream()
                .filter(claim -> claim.uid().equals(uid))
                .findFirst();
    }

    boolean isKubeletIntact() {
        return kubelet.isRead() && kubelet.get().damage().isEmpty();
    }

    /** Returns the kubelet's claim of a UID; none if the kubelet's record can't be read. */
    Optional<KubeletClaim> kubeletClaim(String uid) {
        return kubelet.isRead() ? kubelet.get().claim(uid) : Optional.empty();
    }

    /** Returns the claim that has the name now, whatever its UID. */
    Optional<ClaimRef> named(ClaimRef ref) {
        return claims.get().keySet().stream()
                .filter(claim -> claim.namespace().equals(ref.namespace())
                        && claim.name().equals(ref.name()))
                .findFirst();
    }
}
