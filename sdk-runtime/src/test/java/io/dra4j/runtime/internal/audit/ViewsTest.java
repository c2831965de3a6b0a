// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Report;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Findings of an audit with the kubelet's record, and without it. */
class ViewsTest {

    private static final String OTHER = "5f9b1c5e-0000-4000-8000-000000000001";

    private final NodeModel node = new NodeModel(new Random(20));
    private final ClaimRef claim = node.first().ref();

    private Views blind() {
        Views all = node.views();
        return new Views(
                all.driver(),
                all.bootId(),
                all.journal(),
                all.specs(),
                View.unread("there is no dra_manager_state"),
                all.claims(),
                all.hardware(),
                all.other());
    }

    private static List<Finding> findings(Views views) {
        return Report.of("node node-1", Contradictions.of(views)).findings();
    }

    @Test
    void theKubeletsClaimIsThatOfTheUid() {
        assertThat(node.views().kubeletClaim(claim.uid()))
                .contains(node.kubelet.get(claim.uid()))
                .hasValueSatisfying(one -> assertThat(one.pods()).isNotEmpty());
        assertThat(node.views().kubeletClaim(OTHER)).isEmpty();
        assertThat(blind().kubeletClaim(claim.uid())).isEmpty();
    }

    @Test
    void aClaimThatIsGoneIsFoundUnlessTheKubeletHasIt() {
        node.claims.remove(claim);
        assertThat(findings(node.views())).extracting(Finding::id).containsExactly("claim-deleted-in-use");
        assertThat(findings(blind())).extracting(Finding::id).containsExactly("claim-gone");

        node.kubelet.remove(claim.uid());

        assertThat(findings(node.views())).extracting(Finding::id).containsExactly("claim-gone");
    }

    @Test
    void aSpecWithoutARecordIsFoundUnlessTheKubeletHasItsClaim() {
        node.other.clear();
        node.journal.remove(claim.uid());
        assertThat(findings(node.views())).extracting(Finding::id).containsExactly("journal-lacks-claim");

        assertThat(findings(blind())).extracting(Finding::id).containsExactly("spec-unknown");
    }

    @Test
    void aReplacedClaimIsHeldInVainIfTheKubeletHasItNot() {
        ClaimRef now = new ClaimRef(claim.namespace(), claim.name(), OTHER);
        node.claims.remove(claim);
        node.claims.put(
                now,
                NodeModel.object(now, NodeModel.DRIVER, node.first().devices().get(0)));
        String refused = "the kubelet refuses the pods of the new claim";
        assertThat(findings(node.views()))
                .singleElement()
                .satisfies(one -> assertThat(one.toString()).contains(refused));
        assertThat(findings(blind()))
                .singleElement()
                .satisfies(one -> assertThat(one.toString()).contains(refused));

        node.kubelet.remove(claim.uid());

        assertThat(findings(node.views()))
                .singleElement()
                .satisfies(one -> assertThat(one.toString()).contains("its devices are refused to other claims"));
    }
}
