// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.allocation.Allocations;
import io.dra4j.tools.audit.KubeletState.KubeletClaim;
import java.util.List;

/** Contradictions between the journal and the kubelet's record. */
final class JournalAndKubelet {

    private JournalAndKubelet() {}

    /**
     * Returns the kubelet's record, if it is intact.
     *
     * @throws NotCheckedException if it is not, or could not be read
     */
    static KubeletState intact(Views views) {
        KubeletState state = views.kubelet().get();
        if (!state.damage().isEmpty()) {
            throw new NotCheckedException("the kubelet's state is damaged: " + state.damage());
        }
        return state;
    }

    static CheckResult damaged(Views views) {
        KubeletState state = views.kubelet().get();
        if (state.damage().isEmpty()) {
            String claims = CheckResult.number(state.prepared().size(), "claim");
            return CheckResult.healthy("intact, with %s of this driver".formatted(claims));
        }
        return CheckResult.found(FindingWords.finding(
                "kubelet-state-damaged",
                views.driver().kubeletState().toString(),
                List.of(
                        "kubectl drain %s --ignore-daemonsets --delete-emptydir-data"
                                .formatted(views.driver().node()),
                        "sudo systemctl stop kubelet",
                        "sudo rm " + views.driver().kubeletState(),
                        "sudo systemctl start kubelet",
                        "kubectl uncordon " + views.driver().node()),
                state.damage()));
    }

    static CheckResult forgot(Views views) {
        views.requireClaims();
        KubeletState kubelet = intact(views);
        List<ClaimRecord> prepared = views.prepared();
        List<Finding> findings = prepared.stream()
                .filter(claim -> !claim.isUnprepareSkipped())
                .filter(claim -> kubelet.claim(claim.ref().uid()).isEmpty())
                .filter(claim -> isAllocated(views, claim))
                .map(claim -> FindingWords.finding(
                        "kubelet-forgot", claim.ref(), new Fixes(views).deleteForgotten(claim.ref())))
                .toList();
        return CheckResult.of(findings, prepared.size(), "prepared claim");
    }

    private static boolean isAllocated(Views views, ClaimRecord claim) {
        return views.object(claim.ref())
                .filter(new Allocations(views.driver().name(), List.of())::isAllocated)
                .isPresent();
    }

    static CheckResult unknown(Views views) {
        List<KubeletClaim> held = intact(views).prepared();
        List<Finding> findings = held.stream()
                .filter(claim -> !views.isRecorded(claim.ref().uid()))
                .filter(claim -> mayExist(views, claim))
                .map(claim -> unknown(views, claim))
                .toList();
        return CheckResult.of(findings, held.size(), "kubelet claim");
    }

    /** A deleted claim is another finding. */
    private static boolean mayExist(Views views, KubeletClaim claim) {
        return !views.claims().isRead() || views.object(claim.ref()).isPresent();
    }

    private static Finding unknown(Views views, KubeletClaim claim) {
        return FindingWords.finding(
                "journal-lacks-claim",
                claim.ref(),
                new Fixes(views).deletePods(claim.ref()),
                String.join(", ", claim.devices()));
    }
}
