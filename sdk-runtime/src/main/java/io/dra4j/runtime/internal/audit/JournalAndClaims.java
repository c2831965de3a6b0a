// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.error.PrepareException;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import io.dra4j.doctor.Severity;
import io.dra4j.runtime.internal.audit.KubeletState.KubeletClaim;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.allocation.Allocations;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Contradictions between what the node holds and the claims in the API. */
final class JournalAndClaims {

    private static final String HELD_IN_VAIN =
            "its devices are refused to other claims, although the scheduler takes them for free";

    private JournalAndClaims() {}

    static Result gone(Views views) {
        views.requireClaims();
        List<Finding> findings = views.recorded().stream()
                .map(ClaimRecord::ref)
                .filter(ref -> views.object(ref).isEmpty() && views.named(ref).isEmpty())
                .filter(ref -> views.kubeletClaim(ref.uid()).isEmpty())
                .map(ref -> gone(views, ref))
                .toList();
        return Words.result(findings, views.recorded().size(), "claim");
    }

    private static Finding gone(Views views, ClaimRef ref) {
        return new Finding(
                "claim-gone",
                Severity.WARNING,
                Words.claim(ref),
                "the driver holds it, and the API server has no such claim",
                HELD_IN_VAIN,
                new Mend(views).awaitDriver());
    }

    static Result deletedInUse(Views views) {
        views.requireClaims();
        List<KubeletClaim> held = JournalAndKubelet.intact(views).prepared();
        List<Finding> findings = held.stream()
                .filter(claim -> views.object(claim.ref()).isEmpty())
                .filter(claim -> !isReplaced(views, claim.ref()))
                .map(claim -> deletedInUse(views, claim))
                .toList();
        return Words.result(findings, held.size(), "kubelet claim");
    }

    private static boolean isReplaced(Views views, ClaimRef ref) {
        return views.isRecorded(ref.uid()) && views.named(ref).isPresent();
    }

    private static Finding deletedInUse(Views views, KubeletClaim claim) {
        return new Finding(
                "claim-deleted-in-use",
                Severity.ERROR,
                Words.claim(claim.ref()),
                "pods of the node use it, and the API server has no such claim: its finalizer was"
                        + " removed by force",
                "the scheduler takes %s for free, and pods that it places there can't start"
                        .formatted(String.join(", ", claim.devices())),
                new Mend(views).deletePodsByUid(claim.pods()));
    }

    static Result replaced(Views views) {
        views.requireClaims();
        List<Finding> findings = views.recorded().stream()
                .map(ClaimRecord::ref)
                .filter(ref -> views.object(ref).isEmpty() && views.named(ref).isPresent())
                .map(ref -> replaced(views, ref))
                .toList();
        return Words.result(findings, views.recorded().size(), "claim");
    }

    private static Finding replaced(Views views, ClaimRef ref) {
        String now = views.named(ref).map(ClaimRef::uid).orElseThrow();
        return new Finding(
                "claim-replaced",
                Severity.ERROR,
                Words.claim(ref),
                "the API server's claim of this name is another one, with UID " + now,
                views.isKubeletIntact() && views.kubeletClaim(ref.uid()).isEmpty()
                        ? HELD_IN_VAIN
                        : "the kubelet refuses the pods of the new claim as long as pods of the old"
                                + " one are on the node",
                new Mend(views).deletePods(ref));
    }

    static Result differ(Views views) {
        views.requireClaims();
        Allocations allocations = new Allocations(views.driver().name(), List.of());
        List<Finding> findings = views.recorded().stream()
                .filter(claim -> views.isOfThisBoot(claim) && claim.results() != null)
                .flatMap(claim -> differ(views, allocations, claim).stream())
                .toList();
        return Words.result(findings, views.recorded().size(), "claim");
    }

    private static Optional<Finding> differ(Views views, Allocations allocations, ClaimRecord claim) {
        Set<HeldDevice> held = allocations.unidentified(claim.devices());
        return views.object(claim.ref())
                .map(object -> allocated(allocations, claim.ref(), object))
                .filter(allocated -> !allocated.equals(held))
                .map(allocated -> new Finding(
                        "devices-differ",
                        Severity.ERROR,
                        Words.claim(claim.ref()),
                        "prepared are %s, and allocated %s".formatted(names(held), names(allocated)),
                        "its containers use devices that the scheduler may give to" + " another claim",
                        new Mend(views).deletePods(claim.ref())));
    }

    private static Set<HeldDevice> allocated(Allocations allocations, ClaimRef ref, ClaimObject object) {
        try {
            return new HashSet<>(allocations.devices(ref, object));
        } catch (PrepareException e) { // nothing of this driver
            return Set.of();
        }
    }

    private static String names(Set<HeldDevice> devices) {
        Set<String> names = new TreeSet<>();
        devices.forEach(one -> names.add("%s/%s%s for %s"
                .formatted(
                        one.pool(),
                        one.device(),
                        one.shareId() == null ? "" : " (share " + one.shareId() + ")",
                        one.request())));
        return names.isEmpty() ? "no devices" : String.join(", ", names);
    }
}
