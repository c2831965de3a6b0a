// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.Calls;
import io.dra4j.conformance.bench.CdiView;
import io.dra4j.conformance.bench.ClaimDraft;
import io.dra4j.conformance.bench.Patience;
import io.dra4j.conformance.bench.PublishedDevice;
import io.dra4j.conformance.bench.Untested;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.ClaimAnswer.PreparedDevice;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What the kubelet hears when it lets valid claims be prepared. */
@Lane.On(Lane.CALLS)
final class PrepareRules {

    private static final int MOST_RESULTS = 32;
    private static final int BATCH = 8;
    private static final int REPEATS = 10;
    private static final int CALLERS = 16;

    private final Bench bench;

    PrepareRules(Bench bench) {
        this.bench = bench;
    }

    @Rule("DRA-PREP-01")
    void everyUidIsAnsweredAndNoOther() {
        answeredFor(bench.claims().allocate(bench.devices().one()));
        List<PublishedDevice> usable = bench.devices().usable();
        if (usable.size() > 1) {
            bench.tidy();
            answeredFor(
                    bench.claims().allocate(usable.get(0)), bench.claims().allocate(usable.get(1)));
        }
    }

    private Map<String, ClaimAnswer> answeredFor(KubeletClaim... claims) {
        CallResult result = bench.calls().prepare(claims);
        Violation.unless(
                result.status().equals(CallResult.OK),
                "the prepare call for %d valid claims failed: %s",
                claims.length,
                result.status());
        Set<String> asked =
                Arrays.stream(claims).map(KubeletClaim::uid).collect(Collectors.toSet());
        Violation.unless(
                result.answers().keySet().equals(asked),
                "the response to a prepare of the claim UIDs %s has entries for %s",
                asked,
                result.answers().keySet());
        result.answers()
                .forEach(
                        (uid, answer) ->
                                Violation.unless(
                                        answer.error().isEmpty(),
                                        "the valid claim with UID %s was not prepared: %s",
                                        uid,
                                        answer.error()));
        return result.answers();
    }

    @Rule("DRA-PREP-02")
    void devicesAreThoseOfTheAllocation() {
        PublishedDevice[] some = bench.devices().forOneClaim(3).toArray(PublishedDevice[]::new);
        ClaimAnswer answer = bench.calls().prepared(bench.claims().allocate(some));
        for (PreparedDevice device : answer.devices()) {
            Violation.unless(
                    !device.pool().isEmpty() && !device.device().isEmpty(),
                    "a device of the answer has the pool \"%s\" and the name \"%s\"; both are due",
                    device.pool(),
                    device.device());
        }
        Set<String> reported = Reported.names(answer);
        Violation.unless(
                Reported.names(some).containsAll(reported),
                "the answer reports %s; allocated were %s",
                reported,
                Reported.names(some));
        Violation.minorUnless(
                reported.equals(Reported.names(some)),
                "of the allocated devices %s the answer reports %s only",
                Reported.names(some),
                reported);
        bench.tidy();
        nothingIsSkipped(some[0]);
    }

    private void nothingIsSkipped(PublishedDevice known) {
        PublishedDevice absent = Absent.device(known.pool());
        KubeletClaim claim = bench.claims().allocate(known, absent);
        CallResult result = bench.calls().prepare(claim);
        if (result.complaint().isEmpty()) {
            Set<String> reported = Reported.names(result.answers().get(claim.uid()));
            Violation.minorUnless(
                    reported.equals(Reported.names(known, absent)),
                    "a claim with the devices %s and %s was prepared, and only %s were reported",
                    known,
                    absent,
                    reported);
        }
    }

    @Rule("DRA-PREP-03")
    void devicesAreReportedForTheirMainRequest() {
        List<PublishedDevice> two = bench.devices().some(2);
        ClaimDraft draft =
                bench.claims().draft().request("r0", two.get(0)).request("r1", two.get(1));
        ClaimAnswer answer = bench.calls().prepared(bench.claims().create(draft));
        for (PreparedDevice device : answer.devices()) {
            boolean first = isOf(device, two.get(0));
            List<String> due = List.of(first ? "r0" : "r1");
            Violation.unless(
                    device.requests().equals(due),
                    "device %s/%s was allocated for request %s and is reported for %s",
                    device.pool(),
                    device.device(),
                    due,
                    device.requests().isEmpty() ? "all requests" : device.requests());
        }
        bench.tidy();
        subrequestsAreNotNamed(two.get(0));
    }

    private void subrequestsAreNotNamed(PublishedDevice device) {
        ClaimDraft draft =
                bench.claims().draft().alternatives("r0", List.of("a", "b"), "a", device);
        ClaimAnswer answer = bench.calls().prepared(bench.claims().create(draft));
        for (PreparedDevice reported : answer.devices()) {
            Violation.unless(
                    reported.requests().isEmpty() || reported.requests().equals(List.of("r0")),
                    "a device that was allocated for subrequest r0/a is reported for %s; the"
                            + " kubelet knows the main request r0 alone",
                    reported.requests());
        }
    }

    private static boolean isOf(PreparedDevice reported, PublishedDevice device) {
        return reported.pool().equals(device.pool()) && reported.device().equals(device.name());
    }

    @Rule("DRA-PREP-04")
    void aClaimMayHaveManyDevices() {
        List<PublishedDevice> many = bench.devices().forOneClaim(MOST_RESULTS);
        int count = Reported.names(many).size();
        Untested.unless(
                count > 1 || !bench.devices().areShaped(),
                "claims of the shape in driver.claims get one device each");
        if (count < 2) {
            bench.devices().some(2); // which says why there are no more
        }
        KubeletClaim claim = bench.claims().create(bench.claims().draft().request("r0", many));
        ClaimAnswer answer = bench.calls().prepared(claim);
        Set<String> missing = Reported.names(many);
        missing.removeAll(Reported.names(answer));
        Violation.unless(
                missing.isEmpty(),
                "of %d devices that were allocated for one claim, %s are not reported",
                count,
                missing);
    }

    @Rule("DRA-PREP-05")
    void aRepetitionIsAnsweredTheSame() {
        KubeletClaim claim = bench.claims().allocate(bench.devices().one());
        Reported first = Reported.of(bench.calls().prepared(claim));
        Map<String, JsonNode> specs = bench.cdi().contents();
        for (int i = 0; i < REPEATS; i++) {
            CallResult result = bench.calls().prepare(claim);
            Violation.unless(
                    result.complaint().isEmpty(),
                    "the repeated prepare of a prepared claim failed: %s",
                    result.complaint().orElse(""));
            Reported again = Reported.of(result.answers().get(claim.uid()));
            Violation.unless(
                    again.equals(first),
                    "a repeated prepare is answered %s, where the first was answered %s",
                    again,
                    first);
        }
        Map<String, JsonNode> changed = bench.cdi().contents();
        specs.forEach((file, spec) -> changed.remove(file, spec));
        Violation.unless(
                changed.isEmpty() && bench.cdi().contents().keySet().equals(specs.keySet()),
                "repeated prepares changed what the CDI specs say: of %s, there are now %s, with"
                        + " %s",
                specs.keySet(),
                bench.cdi().contents().keySet(),
                changed);
    }

    @Rule("DRA-PREP-06")
    void callsAtTheSameTimeAgree() {
        Leftovers leftovers = Leftovers.since(bench);
        KubeletClaim claim = bench.claims().allocate(bench.devices().one());
        List<CompletableFuture<ClaimAnswer>> calls = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            calls.add(Calls.async(() -> answerOf(bench.calls().prepare(claim), claim)));
        }
        List<ClaimAnswer> answers = calls.stream().map(CompletableFuture::join).toList();
        List<String> errors =
                answers.stream().map(ClaimAnswer::error).filter(e -> !e.isEmpty()).toList();
        Violation.unless(
                errors.isEmpty(),
                "of %d prepares of one claim at the same time, %d failed: %s",
                CALLERS,
                errors.size(),
                errors.isEmpty() ? "" : errors.get(0));
        Set<Reported> reported =
                answers.stream().map(Reported::of).collect(Collectors.toUnmodifiableSet());
        Violation.unless(
                reported.size() == 1,
                "prepares of one claim at the same time are answered differently: %s",
                reported);
        CdiView.ids(answers.get(0)).forEach(bench.cdi()::resolve);
        bench.calls().unprepared(claim);
        leftovers.none("after prepares of one claim at the same time and its unprepare");
    }

    private static ClaimAnswer answerOf(CallResult result, KubeletClaim claim) {
        ClaimAnswer answer = result.answers().get(claim.uid());
        return result.complaint().isEmpty() && answer != null
                ? answer
                : new ClaimAnswer(List.of(), result.complaint().orElse("no answer"), "");
    }

    @Rule("DRA-PREP-07")
    void aBatchIsPrepared() {
        int count = Math.max(2, Math.min(roomFor(), bench.devices().usable().size()));
        List<PublishedDevice> devices = bench.devices().some(count);
        KubeletClaim[] claims =
                devices.stream().map(bench.claims()::allocate).toArray(KubeletClaim[]::new);
        Map<String, ClaimAnswer> answers = answeredFor(claims);
        IntStream.range(0, count)
                .forEach(
                        i ->
                                Violation.unless(
                                        Reported.names(answers.get(claims[i].uid()))
                                                .equals(Reported.names(devices.get(i))),
                                        "in a batch, the claim with device %s is answered with %s",
                                        devices.get(i),
                                        Reported.of(answers.get(claims[i].uid()))));
    }

    /** How many claims a driver can prepare within a call, if it does so one after the other. */
    private int roomFor() {
        KubeletClaim one = bench.claims().allocate(bench.devices().one());
        long begin = System.nanoTime();
        bench.calls().prepared(one);
        long took = System.nanoTime() - begin;
        bench.calls().unprepared(one);
        return (int) Math.min(BATCH, Patience.PREPARE.toNanos() * 2 / 3 / took);
    }

    @Rule("DRA-PREP-08")
    void aFailureTouchesNoOtherClaim() {
        PublishedDevice device = bench.devices().one();
        KubeletClaim bad = bench.claims().allocate(Absent.device(device.pool()));
        KubeletClaim good = bench.claims().allocate(device);
        CallResult result = bench.calls().prepare(bad, good);
        Violation.minorUnless(
                result.status().equals(CallResult.OK),
                "the device that one claim of a batch may not have failed the whole call: %s",
                result.status());
        ClaimAnswer failed = result.answers().get(bad.uid());
        Violation.unless(
                failed != null && !failed.error().isEmpty(),
                "in a batch, a claim with a device that is not there is answered %s, not an error",
                failed == null ? "not at all" : Reported.of(failed));
        ClaimAnswer answer = result.answers().get(good.uid());
        Violation.unless(
                answer != null && answer.error().isEmpty(),
                "in a batch with a claim that fails, the good claim is answered %s",
                answer == null ? "not at all" : "with the error " + answer.error());
        Violation.unless(
                !answer.devices().isEmpty(),
                "in a batch with a claim that fails, the good claim got no devices");
    }
}
