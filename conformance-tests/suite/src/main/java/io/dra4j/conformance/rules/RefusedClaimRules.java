// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.ClaimDraft;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Absent;
import io.dra4j.conformance.probes.Leftovers;
import io.dra4j.conformance.probes.Reported;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Claims that must not be prepared, or not as requested. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record RefusedClaimRules(TestContext context) {

    @Rule("DRA-PREP-09")
    void aFailedPrepareLeavesNothing() {
        PublishedDevice device =
                context.devices().spare(2 + context.calls().service().ordinal());
        KubeletClaim mixed = refusedForItsSecond(device);
        context.calls()
                .prepared(
                        context.claims().allocate(device),
                        "the prepare of a claim failed, but still holds device %s: another claim gets %s",
                        device);
        context.calls().unprepared(mixed);
        context.tidy();
        Leftovers leftovers = Leftovers.since(context);
        refusedForItsSecond(device);
        leftovers.none("after a prepare that failed for its second device");
    }

    private KubeletClaim refusedForItsSecond(PublishedDevice device) {
        KubeletClaim mixed = context.claims().allocate(device, Absent.like(device));
        context.calls().refused(mixed, "the driver does not have the second of its devices");
        return mixed;
    }

    @Rule("DRA-PREP-10")
    void aClaimThatIsNotThereIsAnError() {
        Leftovers leftovers = Leftovers.since(context);
        KubeletClaim claim = context.claims().allocate(Absent.anyDevice(context));
        context.claims().deleteObject(claim);
        context.calls().refused(claim, "the API server does not have this claim");
        leftovers.none("after the prepare of a claim that does not exist");
    }

    @Rule("DRA-PREP-11")
    void aClaimThatWasCreatedAgainIsAnErrorForItsOldUid() {
        Leftovers leftovers = Leftovers.since(context);
        ClaimDraft draft = context.claims().draft().request("r0", Absent.anyDevice(context));
        KubeletClaim old = context.claims().create(draft);
        context.claims().deleteObject(old);
        context.claims().create(draft);
        context.calls().refused(old, "the claim of that name has another UID by now");
        leftovers.none("after the prepare of a claim whose UID is not the object's");
    }

    @Rule("DRA-PREP-12")
    void aClaimWithoutAllocationIsAnError() {
        Leftovers leftovers = Leftovers.since(context);
        KubeletClaim claim =
                context.claims().createUnallocated(context.claims().draft().bareRequest("r0"));
        context.calls().refused(claim, "it has no allocation");
        leftovers.none("after the prepare of a claim without an allocation");
    }

    @Rule("DRA-PREP-13")
    void resultsOfOtherDriversAreLeftAlone() {
        PublishedDevice own = context.devices().one();
        ClaimDraft draft = context.claims().draft().request("r0", own).bareRequest("r1");
        draft.rawResult("r1", Absent.DRIVER, own.pool(), own.name());
        draft.rawResult("r1", Absent.DRIVER, own.pool(), "dra-conformance-foreign-device");
        KubeletClaim claim = context.claims().create(draft);
        ClaimResult answer = context.calls().prepared(claim);
        Violation.unless(Reported.names(own).containsAll(Reported.names(answer)))
                .because(
                        "the answer reports %s; the driver's own device is %s, the others are of driver %s",
                        Reported.names(answer), own, Absent.DRIVER);
        Violation.unless(answer.devices().stream()
                        .noneMatch(one -> one.requests().contains("r1")))
                .because("a device is reported for request r1, for which another driver's devices were allocated");
        failingRollsBackNoOther(claim, own, answer);
    }

    private void failingRollsBackNoOther(KubeletClaim claim, PublishedDevice own, ClaimResult answer) {
        List<String> edits = context.cdi().edits(answer.devices());
        PublishedDevice absent = Absent.like(own);
        ClaimDraft draft = context.claims().draft().request("r0", absent).bareRequest("r1");
        draft.rawResult("r1", Absent.DRIVER, own.pool(), own.name());
        KubeletClaim failing = context.claims().create(draft);
        context.calls().refused(failing, "the driver does not have its device " + absent);
        context.calls().unprepared(failing);
        ClaimResult again = context.calls().prepared(claim);
        Violation.unless(Reported.of(again).equals(Reported.of(answer))
                        && context.cdi().edits(again.devices()).equals(edits))
                .about("DRA-PREP-05")
                .because(
                        "the roll-back of a claim touched device %s of another claim, which it names for driver %s",
                        own, Absent.DRIVER);
    }

    @Rule("DRA-PREP-15")
    void aDeviceThatIsNotThereIsAnError() {
        Leftovers leftovers = Leftovers.since(context);
        PublishedDevice absent = Absent.device(context);
        context.calls().refused(context.claims().allocate(absent), "the driver has no device " + absent);
        leftovers.none("after the prepare of a device that does not exist");
    }

    @Rule("DRA-PREP-16")
    void aDeviceOfAnotherPoolIsAnError() {
        PublishedDevice device = context.devices().one();
        PublishedDevice other = device.absent("dra-conformance-other-pool", device.name());
        context.calls()
                .refused(
                        context.claims().allocate(other),
                        "its device is in a pool that the driver does not have: " + other);
    }

    @Rule("DRA-PREP-17")
    void aClaimWithoutOwnDevicesHasNoEffect() {
        Leftovers leftovers = Leftovers.since(context);
        PublishedDevice device = Absent.anyDevice(context);
        ClaimDraft draft = context.claims().draft().bareRequest("r0");
        draft.rawResult("r0", Absent.DRIVER, device.pool(), device.name());
        KubeletClaim claim = context.claims().create(draft);
        CallResult result = context.calls().prepare(claim);
        if (result.complaint().isEmpty()) {
            ClaimResult answer = result.results().get(claim.uid());
            Violation.unless(answer.devices().isEmpty())
                    .because("a claim with only another driver's devices is answered with %s", Reported.of(answer));
        }
        leftovers.none("after the prepare of a claim with only another driver's devices");
        context.calls()
                .unprepared(
                        claim,
                        "after the prepare of a claim with only another driver's devices, its unprepare failed: %s");
    }

    @Rule("DRA-PREP-18")
    void aDeviceInUseIsRefused() {
        PublishedDevice device = context.devices().exclusive();
        KubeletClaim owner = context.claims().allocate(device);
        ClaimResult answer = context.calls().prepared(owner);
        KubeletClaim other = context.claims().allocate(device);
        context.calls().refused(other, "device %s is in use by another claim".formatted(device));
        CdiView.ids(answer).forEach(context.cdi()::resolve);
        Violation.unless(Reported.of(context.calls().prepared(owner)).equals(Reported.of(answer)))
                .about("DRA-PREP-05")
                .because("the claim that has device %s was changed by one that was refused", device);
        context.calls().unprepared(other);
        context.calls().unprepared(owner);
        context.calls().prepared(other, "device %s is not free after the unprepare of its claim: %s", device);
    }

    @Rule("DRA-PREP-29")
    void anEmptyCallIsAnsweredAndARepetitionIsOneClaim() {
        CallResult empty = context.calls().prepare();
        Violation.unless(empty.status().equals(CallResult.OK))
                .because("a prepare of no claims failed: %s", empty.status());
        Violation.unless(empty.results().isEmpty())
                .because(
                        "a prepare of no claims is answered for %s",
                        empty.results().keySet());
        for (PublishedDevice device : context.devices().usable()) {
            twiceInACall(device);
            return;
        }
    }

    private void twiceInACall(PublishedDevice device) {
        KubeletClaim claim = context.claims().allocate(device);
        CallResult twice = context.calls().prepare(claim, claim);
        Violation.minorUnless(twice.complaint().isEmpty())
                .about("DRA-PREP-01")
                .because(
                        "a call that names a claim twice failed: %s",
                        twice.complaint().orElse(""));
        Reported once = Reported.of(context.calls().prepared(claim));
        Reported both = Reported.of(twice.results().get(claim.uid()));
        Violation.minorUnless(both.equals(once))
                .because("a claim that a call names twice is answered with %s, and later with %s", both, once);
    }

    @Rule("DRA-PREP-30")
    void aClaimIsPreparedAgainAndWhenItIsCreatedAgain() {
        List<PublishedDevice> usable = context.devices().upTo(2);
        PublishedDevice first = usable.get(0);
        PublishedDevice second = usable.get(usable.size() - 1);
        String name = "claim-made-again-" + context.calls().service().name().toLowerCase(Locale.ROOT);
        KubeletClaim old = context.claims().create(context.claims().draft(name).request("r0", first));
        Set<String> names = Reported.names(context.calls().prepared(old));
        context.calls().unprepared(old);
        preparedAgain(old, names, "is prepared again after its unprepare");
        context.calls().unprepared(old);
        context.claims().deleteObject(old);
        KubeletClaim sameName =
                context.claims().create(context.claims().draft(name).request("r0", second));
        Set<String> due = names.isEmpty() ? names : Reported.names(second);
        preparedAgain(sameName, due, "has the name of an earlier one and another UID");
    }

    private void preparedAgain(KubeletClaim claim, Set<String> due, String that) {
        ClaimResult answer = context.calls().prepared(claim, "a claim that %s is refused: %s", that);
        Violation.unless(Reported.names(answer).equals(due))
                .about("DRA-PREP-02")
                .because("a claim that %s and has %s is answered with %s", that, due, Reported.of(answer));
        CdiView.ids(answer).forEach(context.cdi()::resolve);
    }

    @Rule("DRA-PREP-36")
    void aClaimOfAPodGroupIsPrepared() {
        PublishedDevice device = context.devices().one();
        ClaimDraft draft =
                context.claims().draft().request("r0", device).reservedFor("scheduling.k8s.io", "podgroups", "workers");
        ClaimResult answer = context.calls()
                .prepared(
                        context.claims().create(draft), "a claim that is reserved for a PodGroup was not prepared: %s");
        Violation.unless(Reported.isOfAllOrNone(context, answer, Reported.names(device)))
                .about("DRA-PREP-02")
                .because(
                        "a claim that is reserved for a PodGroup and has %s is answered with %s",
                        device, Reported.of(answer));
    }

    @Rule("DRA-PREP-40")
    void fieldsOfALaterReleaseAreIgnored() {
        ClusterObjects store = context.store()
                .orElseThrow(() -> new Untested("a real API server drops the fields that it does not know"));
        PublishedDevice device = context.devices().one();
        KubeletClaim claim = context.claims().allocate(device);
        store.changeUnchecked("resourceclaims", claim.namespace(), claim.name(), RefusedClaimRules::addFields);
        context.calls().prepare(claim);
        Untested.unless(
                context.proxy().requests(request -> request.status() == 406).isEmpty(),
                "the driver reads claims only in protobuf, in which the embedded API server can't write unknown fields");
        ClaimResult answer = context.calls()
                .prepared(
                        claim,
                        "a claim with fields of a later release, consumedCounters in a result for example, was not prepared: %s");
        Violation.unless(Reported.isOfAllOrNone(context, answer, Reported.names(device)))
                .about("DRA-PREP-02")
                .because("fields of a later release changed the answer for %s to %s", device, Reported.of(answer));
    }

    /** Fields of a claim: one is from the alpha KEP-5941; no release has the others. */
    private static void addFields(ObjectNode claim) {
        ObjectNode result = (ObjectNode) claim.at("/status/allocation/devices/results/0");
        ObjectNode consumed = result.putArray("consumedCounters").addObject().put("counterSet", "shared");
        consumed.putObject("counters").put("memory", "1Gi");
        for (String parent : List.of("/metadata", "/spec/devices/requests/0", "/status", "/status/allocation")) {
            ((ObjectNode) claim.at(parent)).put("fieldOfALaterRelease", "any");
        }
    }
}
