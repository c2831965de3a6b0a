// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.ClaimDraft;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Absent;
import io.dra4j.conformance.probes.Leftovers;
import io.dra4j.conformance.probes.Reported;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.List;
import java.util.Set;

/** Rules for the results of unprepares, and for what remains. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record UnprepareRules(TestContext context) {

    private static final int REPEATS = 10;

    @Rule("DRA-UNP-01")
    void everyUidIsAnswered() {
        KubeletClaim claim = context.preparedClaim(context.devices().one());
        answeredFor(context.calls().unprepare(claim), Set.of(claim.uid()));
    }

    private static void answeredFor(CallResult result, Set<String> uids) {
        Violation.unless(result.status().equals(CallResult.OK))
                .because("the unprepare call failed: %s", result.status());
        Violation.unless(result.results().keySet().equals(uids))
                .because(
                        "the response to an unprepare of the claim UIDs %s has entries for %s",
                        uids, result.results().keySet());
        for (String uid : uids) {
            String error = result.results().get(uid).error();
            Violation.unless(error.isEmpty()).because("the unprepare of the claim with UID %s failed: %s", uid, error);
        }
    }

    @Rule("DRA-UNP-02")
    void anUnknownClaimIsNoError() {
        context.calls()
                .unprepared(Absent.claim(context), "the unprepare of a claim that the driver never saw failed: %s");
    }

    @Rule("DRA-UNP-03")
    void anUnprepareMayBeRepeated() {
        KubeletClaim claim = context.unpreparedClaim(context.devices().one());
        for (int i = 0; i < REPEATS; i++) {
            context.calls().unprepared(claim, "the repeated unprepare of a claim failed: %s");
        }
    }

    @Rule("DRA-UNP-04")
    void anUnprepareNeedsNoObject() {
        Leftovers leftovers = Leftovers.since(context);
        PublishedDevice device = context.devices().one();
        KubeletClaim deleted = context.preparedClaim(device);
        context.claims().deleteObject(deleted);
        unprepared(deleted, "whose object is deleted");
        ClaimDraft draft = context.claims().draft().request("r0", device);
        KubeletClaim replaced = context.claims().create(draft);
        context.calls().prepared(replaced);
        context.claims().deleteObject(replaced);
        context.claims().create(draft);
        unprepared(replaced, "whose name another claim has by now");
        leftovers.none("after the unprepare of claims whose objects are gone");
    }

    private void unprepared(KubeletClaim claim, String whose) {
        context.calls().unprepared(claim, "the unprepare of a claim %s failed: %s", whose);
    }

    @Rule("DRA-UNP-07")
    void aFailedPrepareCanBeUnprepared() {
        Leftovers leftovers = Leftovers.since(context);
        PublishedDevice device =
                context.devices().spare(4 + context.calls().service().ordinal());
        KubeletClaim mixed = context.claims().allocate(device, Absent.like(device));
        context.calls().prepare(mixed);
        unprepared(mixed, "that could not be prepared");
        leftovers.none("after a prepare that failed and its unprepare");
        context.calls()
                .prepared(
                        context.claims().allocate(device),
                        "device %s is not free after a prepare that failed and its unprepare: %s",
                        device);
    }

    @Rule("DRA-UNP-08")
    void theOldUidsUnprepareLeavesTheNewClaimOfThatName() {
        List<PublishedDevice> two = context.devices().some(2);
        String name = "claim-of-two-lives-" + context.calls().service().name().toLowerCase();
        KubeletClaim old = context.claims().create(context.claims().draft(name).request("r0", two.get(0)));
        context.calls().prepared(old);
        context.claims().deleteObject(old);
        KubeletClaim newer =
                context.claims().create(context.claims().draft(name).request("r0", two.get(1)));
        ClaimResult answer = context.calls().prepared(newer);
        List<String> edits = context.cdi().edits(answer.devices());

        context.calls().unprepared(old);

        staysAsItWas(newer, answer, edits, "an earlier claim of its name");
        context.calls()
                .prepared(
                        context.claims().allocate(two.get(0)),
                        "device %s of the old claim is not free after its unprepare: %s",
                        two.get(0));
    }

    @Rule("DRA-UNP-09")
    void whatOtherClaimsHaveStays() {
        List<PublishedDevice> two = context.devices().some(2);
        KubeletClaim gone = context.claims().allocate(two.get(0));
        KubeletClaim stays = context.claims().allocate(two.get(1));
        context.calls().prepared(gone);
        ClaimResult answer = context.calls().prepared(stays);
        List<String> edits = context.cdi().edits(answer.devices());

        context.calls().unprepared(gone);

        staysAsItWas(stays, answer, edits, "another claim");
        context.calls().unprepared(stays);
        Leftovers.noFiles(context, "after the unprepare of two claims");
    }

    private void staysAsItWas(KubeletClaim claim, ClaimResult answer, List<String> edits, String other) {
        for (String id : CdiView.ids(answer)) {
            Violation.unless(!context.cdi().find(id).isEmpty())
                    .because("the unprepare of %s took CDI device %s of claim %s away", other, id, claim.name());
        }
        List<String> now = context.cdi().edits(answer.devices());
        Violation.unless(now.equals(edits))
                .about("DRA-CDI-07")
                .because(
                        "the unprepare of %s changed the edits of claim %s from %s to %s",
                        other, claim.name(), edits, now);
        Violation.unless(Reported.of(context.calls().prepared(claim)).equals(Reported.of(answer)))
                .about("DRA-PREP-05")
                .because("the unprepare of %s changed what claim %s is answered", other, claim.name());
    }

    @Rule("DRA-UNP-10")
    void aBatchIsAnsweredClaimByClaim() {
        KubeletClaim unknown = Absent.claim(context);
        List<PublishedDevice> usable = context.devices().usable();
        if (usable.isEmpty()) {
            answeredFor(context.calls().unprepare(unknown), Set.of(unknown.uid()));
            return;
        }
        KubeletClaim known = context.claims().allocate(usable.get(0));
        KubeletClaim also = context.claims().allocate(usable.get(usable.size() - 1));
        context.calls().prepared(known);
        if (usable.size() > 1) {
            context.calls().prepared(also);
        }
        answeredFor(
                context.calls().unprepare(known, unknown, known, also), Set.of(known.uid(), unknown.uid(), also.uid()));
    }
}
