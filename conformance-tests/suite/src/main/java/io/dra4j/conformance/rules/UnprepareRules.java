// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.CdiView;
import io.dra4j.conformance.bench.ClaimDraft;
import io.dra4j.conformance.bench.PublishedDevice;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.List;
import java.util.Set;

/** What the kubelet hears when it lets claims be unprepared, and what is left then. */
@Lane.On(Lane.CALLS)
final class UnprepareRules {

    private static final int REPEATS = 10;

    private final Bench bench;

    UnprepareRules(Bench bench) {
        this.bench = bench;
    }

    @Rule("DRA-UNP-01")
    void everyUidIsAnswered() {
        KubeletClaim claim = bench.claims().allocate(bench.devices().one());
        bench.calls().prepared(claim);
        answeredFor(bench.calls().unprepare(claim), Set.of(claim.uid()));
    }

    private static void answeredFor(CallResult result, Set<String> uids) {
        Violation.unless(
                result.status().equals(CallResult.OK),
                "the unprepare call failed: %s",
                result.status());
        Violation.unless(
                result.answers().keySet().equals(uids),
                "the response to an unprepare of the claim UIDs %s has entries for %s",
                uids,
                result.answers().keySet());
        result.answers()
                .forEach(
                        (uid, answer) ->
                                Violation.unless(
                                        answer.error().isEmpty(),
                                        "the unprepare of the claim with UID %s failed: %s",
                                        uid,
                                        answer.error()));
    }

    @Rule("DRA-UNP-02")
    void anUnknownClaimIsNoError() {
        CallResult result = bench.calls().unprepare(Absent.claim(bench));
        Violation.unless(
                result.complaint().isEmpty(),
                "the unprepare of a claim that the driver never saw failed: %s",
                result.complaint().orElse(""));
    }

    @Rule("DRA-UNP-03")
    void anUnprepareMayBeRepeated() {
        KubeletClaim claim = bench.claims().allocate(bench.devices().one());
        bench.calls().prepared(claim);
        bench.calls().unprepared(claim);
        for (int i = 0; i < REPEATS; i++) {
            CallResult result = bench.calls().unprepare(claim);
            Violation.unless(
                    result.complaint().isEmpty(),
                    "the repeated unprepare of a claim failed: %s",
                    result.complaint().orElse(""));
        }
    }

    @Rule("DRA-UNP-04")
    void anUnprepareNeedsNoObject() {
        Leftovers leftovers = Leftovers.since(bench);
        PublishedDevice device = bench.devices().one();
        KubeletClaim deleted = bench.claims().allocate(device);
        bench.calls().prepared(deleted);
        bench.claims().deleteObject(deleted);
        unprepared(deleted, "whose object is deleted");
        ClaimDraft draft = bench.claims().draft().request("r0", device);
        KubeletClaim replaced = bench.claims().create(draft);
        bench.calls().prepared(replaced);
        bench.claims().deleteObject(replaced);
        bench.claims().create(draft);
        unprepared(replaced, "whose name another claim has by now");
        leftovers.none("after the unprepare of claims whose objects are gone");
    }

    private void unprepared(KubeletClaim claim, String whose) {
        CallResult result = bench.calls().unprepare(claim);
        Violation.unless(
                result.complaint().isEmpty(),
                "the unprepare of a claim %s failed: %s",
                whose,
                result.complaint().orElse(""));
    }

    @Rule("DRA-UNP-07")
    void aFailedPrepareCanBeUnprepared() {
        Leftovers leftovers = Leftovers.since(bench);
        PublishedDevice device = bench.devices().one();
        KubeletClaim mixed = bench.claims().allocate(device, Absent.device(device.pool()));
        bench.calls().prepare(mixed);
        unprepared(mixed, "that could not be prepared");
        leftovers.none("after a prepare that failed and its unprepare");
        CallResult next = bench.calls().prepare(bench.claims().allocate(device));
        Violation.unless(
                next.complaint().isEmpty(),
                "device %s is not free after a prepare that failed and its unprepare: %s",
                device,
                next.complaint().orElse(""));
    }

    @Rule("DRA-UNP-08")
    void theOldUidsUnprepareLeavesTheNewClaimOfThatName() {
        List<PublishedDevice> two = bench.devices().some(2);
        String name = "claim-of-two-lives-" + bench.calls().service().name().toLowerCase();
        KubeletClaim old =
                bench.claims().create(bench.claims().draft(name).request("r0", two.get(0)));
        bench.calls().prepared(old);
        bench.claims().deleteObject(old);
        KubeletClaim anew =
                bench.claims().create(bench.claims().draft(name).request("r0", two.get(1)));
        ClaimAnswer answer = bench.calls().prepared(anew);
        List<String> edits = bench.cdi().edits(answer.devices());

        bench.calls().unprepared(old);

        staysAsItWas(anew, answer, edits, "an earlier claim of its name");
        CallResult next = bench.calls().prepare(bench.claims().allocate(two.get(0)));
        Violation.unless(
                next.complaint().isEmpty(),
                "device %s of the old claim is not free after its unprepare: %s",
                two.get(0),
                next.complaint().orElse(""));
    }

    @Rule("DRA-UNP-09")
    void whatOtherClaimsHaveStays() {
        List<PublishedDevice> two = bench.devices().some(2);
        KubeletClaim gone = bench.claims().allocate(two.get(0));
        KubeletClaim stays = bench.claims().allocate(two.get(1));
        bench.calls().prepared(gone);
        ClaimAnswer answer = bench.calls().prepared(stays);
        List<String> edits = bench.cdi().edits(answer.devices());

        bench.calls().unprepared(gone);

        staysAsItWas(stays, answer, edits, "another claim");
        bench.calls().unprepared(stays);
        Leftovers.noFiles(bench, "after the unprepare of two claims");
    }

    private void staysAsItWas(
            KubeletClaim claim, ClaimAnswer answer, List<String> edits, String other) {
        for (String id : CdiView.ids(answer)) {
            Violation.unless(
                    !bench.cdi().find(id).isEmpty(),
                    "the unprepare of %s took CDI device %s of claim %s away",
                    other,
                    id,
                    claim.name());
        }
        List<String> now = bench.cdi().edits(answer.devices());
        Violation.unless(
                now.equals(edits),
                "the unprepare of %s changed the edits of claim %s from %s to %s",
                other,
                claim.name(),
                edits,
                now);
        Violation.unless(
                Reported.of(bench.calls().prepared(claim)).equals(Reported.of(answer)),
                "the unprepare of %s changed what claim %s is answered",
                other,
                claim.name());
    }

    @Rule("DRA-UNP-10")
    void aBatchIsAnsweredClaimByClaim() {
        KubeletClaim unknown = Absent.claim(bench);
        List<PublishedDevice> usable = bench.devices().usable();
        if (usable.isEmpty()) {
            answeredFor(bench.calls().unprepare(unknown), Set.of(unknown.uid()));
            return;
        }
        KubeletClaim known = bench.claims().allocate(usable.get(0));
        KubeletClaim also = bench.claims().allocate(usable.get(usable.size() - 1));
        bench.calls().prepared(known);
        if (usable.size() > 1) {
            bench.calls().prepared(also);
        }
        answeredFor(
                bench.calls().unprepare(known, unknown, known, also),
                Set.of(known.uid(), unknown.uid(), also.uid()));
    }
}
