// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.Calls;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.ClaimDraft;
import io.dra4j.conformance.context.Content;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Timeouts;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Absent;
import io.dra4j.conformance.probes.Leftovers;
import io.dra4j.conformance.probes.Reported;
import io.dra4j.rules.ClaimLimits;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** Rules for the results of preparing valid claims and of unpreparing, and for what is left behind. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record PrepareRules(TestContext context) {

    private static final int BATCH = 8;
    private static final int REPEATS = 10;
    private static final int CALLERS = 16;

    @Rule("DRA-PREP-01")
    void everyUidIsAnsweredAndNoOther() {
        answeredFor(context.claims().allocate(context.devices().one()));
        List<PublishedDevice> usable = context.devices().usable();
        if (usable.size() > 1) {
            context.tidy();
            answeredFor(
                    context.claims().allocate(usable.get(0)), context.claims().allocate(usable.get(1)));
        }
    }

    private Map<String, ClaimResult> answeredFor(KubeletClaim... claims) {
        CallResult result = context.calls().prepare(claims);
        Violation.unless(result.status().equals(CallResult.OK))
                .because("the prepare call for %d valid claims failed: %s", claims.length, result.status());
        Set<String> asked = Arrays.stream(claims).map(KubeletClaim::uid).collect(Collectors.toSet());
        Violation.unless(result.results().keySet().equals(asked))
                .because(
                        "the response to a prepare of the claim UIDs %s has entries for %s",
                        asked, result.results().keySet());
        for (KubeletClaim claim : claims) {
            String error = result.results().get(claim.uid()).error();
            Violation.unless(error.isEmpty())
                    .about("DRA-PREP-01", "DRA-SLICE-19")
                    .because("the valid claim with UID %s was not prepared: %s", claim.uid(), error);
        }
        return result.results();
    }

    @Rule("DRA-PREP-02")
    void devicesAreThoseOfTheAllocation() {
        PublishedDevice[] some = context.devices().forOneClaim(3).toArray(PublishedDevice[]::new);
        ClaimResult answer = context.calls().prepared(context.claims().allocate(some));
        for (PreparedDevice device : answer.devices()) {
            Violation.unless(!device.pool().isEmpty() && !device.device().isEmpty())
                    .because(
                            "a device of the answer has the pool \"%s\" and the name \"%s\"; both are required",
                            device.pool(), device.device());
        }
        Set<String> reported = Reported.names(answer);
        Violation.unless(Reported.names(some).containsAll(reported))
                .because("the answer reports %s, but %s were allocated", reported, Reported.names(some));
        Violation.minorUnless(reported.equals(Reported.names(some)))
                .because("of the allocated devices %s, the answer reports only %s", Reported.names(some), reported);
        context.tidy();
        nothingIsSkipped(context.devices().spare(context.calls().service().ordinal()));
    }

    private void nothingIsSkipped(PublishedDevice known) {
        PublishedDevice absent = Absent.like(known);
        KubeletClaim claim = context.claims().allocate(known, absent);
        CallResult result = context.calls().prepare(claim);
        if (result.complaint().isEmpty()) {
            Set<String> reported = Reported.names(result.results().get(claim.uid()));
            Violation.minorUnless(reported.equals(Reported.names(known, absent)))
                    .because(
                            "a claim with the devices %s and %s was prepared, but only %s were reported",
                            known, absent, reported);
        }
    }

    @Rule("DRA-PREP-03")
    void devicesAreReportedForTheirMainRequest() {
        List<PublishedDevice> two = context.devices().some(2);
        ClaimDraft draft = context.claims().draft().request("r0", two.get(0)).request("r1", two.get(1));
        ClaimResult answer = context.calls().prepared(context.claims().create(draft));
        for (PreparedDevice device : answer.devices()) {
            boolean first = isOf(device, two.get(0));
            List<String> due = List.of(first ? "r0" : "r1");
            Violation.unless(device.requests().equals(due))
                    .because(
                            "device %s/%s was allocated for request %s, but is reported for %s",
                            device.pool(),
                            device.device(),
                            due,
                            device.requests().isEmpty() ? "all requests" : device.requests());
        }
        List<List<String>> joint =
                two.stream().map(device -> edits(answer, device)).toList();
        context.tidy();
        List<List<String>> alone = two.stream().map(this::editsAlone).toList();
        nothingOfTheOther(0, 1, joint, alone);
        nothingOfTheOther(1, 0, joint, alone);
        subrequestsAreNotNamed(two.get(0));
    }

    private List<String> editsAlone(PublishedDevice device) {
        List<String> edits = edits(context.calls().prepared(context.claims().allocate(device)), device);
        context.tidy();
        return edits;
    }

    /** The edits that come with a device; none if an id does not resolve, which DRA-CDI-02 checks. */
    private List<String> edits(ClaimResult answer, PublishedDevice device) {
        List<PreparedDevice> own =
                answer.devices().stream().filter(one -> isOf(one, device)).toList();
        boolean all = own.stream().flatMap(one -> one.cdiDeviceIds().stream()).allMatch(context.cdi()::resolves);
        return all ? context.cdi().edits(own) : List.of();
    }

    /**
     * A request has the other's device if it has all the edits of that device, and some of them come only with it: a
     * part of them, such as a library for a kind of device, may come with each request.
     */
    private static void nothingOfTheOther(int own, int other, List<List<String>> joint, List<List<String>> alone) {
        List<String> foreign = joint.get(other).stream()
                .filter(line ->
                        alone.get(other).contains(line) && !alone.get(own).contains(line))
                .toList();
        boolean all = new HashSet<>(joint.get(own)).containsAll(joint.get(other));
        Violation.unless(!all || foreign.isEmpty() || alone.get(own).isEmpty())
                .because(
                        "a container that uses only request r%d gets what belongs to request r%d: %s",
                        own, other, foreign);
    }

    private void subrequestsAreNotNamed(PublishedDevice device) {
        ClaimDraft draft = context.claims().draft().alternatives("r0", List.of("a", "b"), "a", device);
        ClaimResult answer = context.calls().prepared(context.claims().create(draft));
        for (PreparedDevice reported : answer.devices()) {
            Violation.unless(
                            reported.requests().isEmpty() || reported.requests().equals(List.of("r0")))
                    .because(
                            "a device that was allocated for subrequest r0/a is reported for %s; the kubelet knows only the main request r0",
                            reported.requests());
        }
    }

    private static boolean isOf(PreparedDevice reported, PublishedDevice device) {
        return reported.pool().equals(device.pool()) && reported.device().equals(device.name());
    }

    @Rule("DRA-PREP-04")
    void aClaimMayHaveManyDevices() {
        List<PublishedDevice> many = context.devices().forOneClaim(ClaimLimits.RESULTS);
        int count = Reported.names(many).size();
        Untested.unless(
                count > 1 || !context.devices().areShaped(),
                "claims of the shape in driver.claims get one device each");
        if (count < 2) {
            context.devices().some(2); // which reports why there are no more
        }
        KubeletClaim claim = context.claims().allocate(many);
        ClaimResult answer = context.calls().prepared(claim);
        Violation.unless(Reported.isOfAllOrNone(context, answer, Reported.names(many)))
                .because(
                        "of %d devices that were allocated for one claim, only %s are reported",
                        count, Reported.names(answer));
    }

    @Rule("DRA-PREP-05")
    void aRepetitionIsAnsweredTheSame() {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        Reported first = Reported.of(context.calls().prepared(claim));
        Content specs = context.cdi().contents();
        for (int i = 0; i < REPEATS; i++) {
            Reported again =
                    Reported.of(context.calls().prepared(claim, "the repeated prepare of a prepared claim failed: %s"));
            Violation.unless(again.equals(first))
                    .because("a repeated prepare is answered %s, but the first was answered %s", again, first);
        }
        List<String> differences = context.cdi().changes(specs);
        Violation.unless(differences.isEmpty())
                .about("DRA-CDI-02")
                .because("repeated prepares changed the CDI specs: %s", SeenPools.few(differences));
    }

    @Rule("DRA-PREP-06")
    void callsAtTheSameTimeAgree() {
        Leftovers leftovers = Leftovers.since(context);
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        List<CompletableFuture<ClaimResult>> calls = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            calls.add(Calls.async(() -> answerOf(context.calls().prepare(claim), claim)));
        }
        List<ClaimResult> answers = calls.stream().map(CompletableFuture::join).toList();
        List<String> errors = answers.stream()
                .map(ClaimResult::error)
                .filter(e -> !e.isEmpty())
                .toList();
        Violation.unless(errors.isEmpty())
                .because(
                        "of %d prepares of one claim at the same time, %d failed: %s",
                        CALLERS, errors.size(), errors.isEmpty() ? "" : errors.get(0));
        Set<Reported> reported = answers.stream().map(Reported::of).collect(Collectors.toUnmodifiableSet());
        Violation.unless(reported.size() == 1)
                .because("prepares of one claim at the same time are answered differently: %s", reported);
        CdiView.ids(answers.get(0)).forEach(context.cdi()::resolve);
        context.calls().unprepared(claim);
        leftovers.none("after prepares of one claim at the same time and its unprepare");
    }

    private static ClaimResult answerOf(CallResult result, KubeletClaim claim) {
        ClaimResult answer = result.results().get(claim.uid());
        return result.complaint().isEmpty() && answer != null
                ? answer
                : new ClaimResult(List.of(), result.complaint().orElse("no answer"), "");
    }

    @Rule("DRA-PREP-07")
    void aBatchIsPrepared() {
        int count = Math.max(2, Math.min(roomFor(), context.devices().usable().size()));
        List<PublishedDevice> devices = context.devices().some(count);
        KubeletClaim[] claims = devices.stream().map(context.claims()::allocate).toArray(KubeletClaim[]::new);
        Map<String, ClaimResult> answers = answeredFor(claims);
        for (int i = 0; i < count; i++) {
            ClaimResult answer = answers.get(claims[i].uid());
            Violation.unless(Reported.isOfAllOrNone(context, answer, Reported.names(devices.get(i))))
                    .about("DRA-PREP-02")
                    .because(
                            "in a batch, the claim with device %s is answered with %s",
                            devices.get(i), Reported.of(answer));
        }
    }

    /** The number of claims that a driver can prepare within a call, if it prepares them one after another. */
    private int roomFor() {
        KubeletClaim one = context.claims().allocate(context.devices().one());
        long begin = System.nanoTime();
        context.calls().prepared(one);
        long took = System.nanoTime() - begin;
        context.calls().unprepared(one);
        return (int) Math.min(BATCH, Timeouts.PREPARE.toNanos() * 2 / 3 / took);
    }

    @Rule("DRA-PREP-08")
    void aFailureTouchesNoOtherClaim() {
        PublishedDevice device = context.devices().one();
        KubeletClaim bad = context.claims().allocate(Absent.like(device));
        KubeletClaim good = context.claims().allocate(device);
        CallResult result = context.calls().prepare(bad, good);
        Violation.minorUnless(result.status().equals(CallResult.OK))
                .because(
                        "a nonexistent device of one claim in a batch caused the whole call to fail: %s",
                        result.status());
        ClaimResult failed = result.results().get(bad.uid());
        Violation.unless(failed != null && !failed.error().isEmpty())
                .because(
                        "in a batch, a claim with a nonexistent device is answered %s, not an error",
                        failed == null ? "not at all" : Reported.of(failed));
        ClaimResult answer = result.results().get(good.uid());
        Violation.unless(answer != null && answer.error().isEmpty())
                .because(
                        "in a batch with a claim that fails, the good claim is answered %s",
                        answer == null ? "not at all" : "with the error " + answer.error());
        Violation.unless(!answer.devices().isEmpty() || Reported.isNone(context, answer))
                .because("in a batch with a claim that fails, the good claim got no devices");
    }

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
        String name = "claim-of-two-lives-" + context.calls().service().name().toLowerCase(Locale.ROOT);
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
                    .because("the unprepare of %s removed CDI device %s of claim %s", other, id, claim.name());
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
