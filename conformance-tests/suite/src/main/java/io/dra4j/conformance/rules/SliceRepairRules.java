// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.Content;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Disturbance;
import io.dra4j.conformance.probes.PlantedSlices;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.conformance.probes.QuietWindow;
import io.dra4j.conformance.probes.Restarts;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Rules for slices that others change and the driver reconciles, for unchanged ones, and for failing writes. */
@ExecutionGroup.On(ExecutionGroup.SLICES)
record SliceRepairRules(TestContext context, Publishing publishing) {

    private static final Duration OUTAGE = Duration.ofSeconds(2);
    private static final Predicate<RecordedRequest> WATCHES =
            Requests.watches("resourceslices").and(request -> request.status() == 200);

    SliceRepairRules(TestContext context) {
        this(context, new Publishing(context));
    }

    private Disturbance disturbance() throws InterruptedException {
        return context.shared(Disturbance.class, () -> Disturbance.of(context));
    }

    @Rule("DRA-SLICE-08")
    void aDeletedSliceIsMadeAgain() throws InterruptedException {
        Disturbance seen = disturbance();
        Untested.unless(
                seen.wasFresh(), "the driver updates its slices when it starts: DRA-SLICE-23 is about such slices");
        context.measurements().add(seen.untilBack());
        Violation.unless(seen.afterDelete().isEmpty()).because("%s", seen.afterDelete());
    }

    @Rule("DRA-SLICE-09")
    void aChangedSliceIsRepaired() throws InterruptedException {
        Disturbance seen = disturbance();
        NotApplicable.unless(seen.wasChanged(), "no slice of the driver has a device to change");
        context.measurements().add(seen.untilRepaired());
        Violation.unless(seen.afterChange().isEmpty()).because("%s", seen.afterChange());
    }

    @Rule("DRA-SLICE-23")
    void anUpdatedSliceIsMadeAgainToo() throws InterruptedException {
        Disturbance seen = disturbance();
        NotApplicable.unless(seen.wasUpdated(), "the driver has not updated a slice that was changed");
        context.measurements().add(seen.untilAgain());
        Violation.unless(seen.afterUpdate().isEmpty()).because("%s", seen.afterUpdate());
    }

    @Rule("DRA-SLICE-15")
    void slicesOfOthersAreLeftAlone() throws InterruptedException {
        Violation.unless(disturbance().toOthers().isEmpty())
                .because("%s", disturbance().toOthers());
    }

    @Rule("DRA-SLICE-10")
    void aWipeOfTheKubeletIsRepaired() throws InterruptedException {
        SeenPools before = publishing.rested();
        NotApplicable.unless(
                before.slices().stream().anyMatch(slice -> slice.path("spec").has("nodeName")),
                "no slice of the driver is local to its node, and so the kubelet wipes none");
        String after = "the kubelet deleted them (%s)".formatted(publishing.lastWrite());
        publishing.wipe();
        publishing.restored(before, after, context.timeouts().cachedRepair());
    }

    @Rule("DRA-SLICE-16")
    void aBrokenWatchIsBegunAgain() throws InterruptedException {
        SeenPools before = publishing.rested();
        NotApplicable.unless(
                context.proxy().requests(WATCHES).stream().anyMatch(RecordedRequest::open),
                "the driver watches no ResourceSlices");
        int cut = context.proxy().lastNumber();
        context.transcript().note("cut all watches");
        context.proxy().cutWatches();
        awaitWatch(cut, "the connection of its watch was cut");
        int expired = context.proxy().lastNumber();
        context.transcript().note("end all watches with 410 Gone");
        context.proxy().expireWatches();
        awaitWatch(expired, "its watch ended with 410 Gone");
        publishing.delete(before.slices().get(0));
        publishing.restored(
                before,
                "a slice was deleted after two watches had been broken",
                context.timeouts().cachedRepair());
    }

    private void awaitWatch(int number, String after) {
        Violation.unless(publishing.happens(
                        "time until the next watch of ResourceSlices",
                        WATCHES.and(Requests.after(number)),
                        context.timeouts().repair()))
                .because(
                        "the driver has not begun another watch of ResourceSlices within %d s after %s",
                        context.timeouts().repair().toSeconds(), after);
    }

    @Rule("DRA-SLICE-11")
    void staleSlicesDoNotSurviveAStart() throws InterruptedException {
        SeenPools before = publishing.settled();
        context.driver().terminate();
        PlantedSlices planted = new PlantedSlices(context);
        try {
            planted.stale(before.slices().get(0));
            context.driver().restarted();
            SeenPools after = publishing
                    .measured(
                            "time from the start until a stale slice was gone",
                            seen -> Publishing.like(before).test(planted.without(seen)),
                            context.timeouts().repair())
                    .orElseThrow(() -> new Violation(
                            "a slice with outdated devices, planted while the driver was down, is still in the pool after its start: "
                                    + publishing.now().difference(before)));
            Violation.minorUnless(publishing
                            .measured(
                                    "time from then until a slice of an old pool was gone",
                                    Publishing.like(before),
                                    context.timeouts().repair())
                            .isPresent())
                    .because(
                            "a slice of a pool that the driver does not have any more is still there after its start: %s",
                            after.difference(before));
        } finally {
            planted.remove();
        }
    }

    @Rule("DRA-SLICE-17")
    void aGracefulStopLeavesTheSlices() throws InterruptedException {
        Content before = publishing.idle().versions();
        int number = context.proxy().lastNumber();
        context.driver().terminate();
        List<RecordedRequest> writes = publishing.writesAfter(number);
        List<String> differences = publishing.now().versions().differences(before);
        context.driver().restarted();
        Violation.unless(differences.isEmpty())
                .because(
                        "a graceful stop must leave the slices in place; after it, %s (%s)",
                        SeenPools.few(differences), words(writes));
    }

    private static String words(List<RecordedRequest> writes) {
        return writes.isEmpty()
                ? "the driver wrote nothing"
                : "the driver sent "
                        + SeenPools.few(writes.stream()
                                .map(w -> w.method() + " " + w.path() + answer(w.status()))
                                .toList());
    }

    private static String answer(int status) {
        return status == 0 ? "" : " → " + status;
    }

    @Rule("DRA-SLICE-06")
    @ExecutionGroup.On(ExecutionGroup.QUIET)
    void anIdleDriverWritesNothing() throws InterruptedException {
        publishing.settled();
        List<RecordedRequest> writes = QuietWindow.of(context).writes();
        context.measurements()
                .count("writes of slices in %d s".formatted(QuietWindow.WITHOUT_WRITES.toSeconds()), writes.size(), 0);
        Violation.unless(writes.isEmpty())
                .because(
                        "no device was changed within %d s, and %s: %s",
                        QuietWindow.WITHOUT_WRITES.toSeconds(),
                        words(writes),
                        writes.isEmpty() ? "" : cut(writes.get(0).body()));
    }

    private static String cut(String body) {
        return body.length() > 1000 ? body.substring(0, 1000) + "…" : body;
    }

    @Rule("DRA-SLICE-07")
    @ExecutionGroup.On(ExecutionGroup.SLICES)
    void aRestartWritesNothing() throws InterruptedException {
        Restarts restarts = context.shared(Restarts.class, () -> Restarts.of(context));
        List<Restarts.After> all = restarts.after();
        int writes = all.get(all.size() - 1).writes().size();
        context.measurements().count("writes of slices by restarts", writes, 0);
        Content before = restarts.before().versions();
        for (Restarts.After one : all) {
            List<String> differences = one.pools().versions().differences(before);
            Violation.unless(one.writes().isEmpty())
                    .because(
                            "%s with unchanged devices must not write slices: %s; %s",
                            one.restart(), words(one.writes()), SeenPools.few(differences));
            Violation.unless(differences.isEmpty())
                    .because(
                            "%s changed slices, though the driver wrote none through the proxy: %s",
                            one.restart(), SeenPools.few(differences));
        }
    }

    /** The time that a driver needs if it doubles its wait after each failure, for any timeout factor. */
    private static final Duration LEAST = Duration.ofSeconds(60);

    /** Contract: this many writes in that time are enough for a client whose writes are refused. */
    private static final Duration WINDOW = Duration.ofSeconds(60);

    /** For each pool: a driver may write them independently of each other. */
    private static final int MOST_WRITES = 30;

    /** One wait for all: each write meets the next failure, until none is left. */
    @Rule("DRA-SLICE-13")
    @ExecutionGroup.On(ExecutionGroup.FAULTS)
    void failuresThatPassAreSurvived() throws InterruptedException {
        SeenPools before = publishing.rested();
        String written = publishing.lastWrite();
        List<Injection> failures = new ArrayList<>();
        for (Fault fault : failures()) {
            failures.add(context.inject(fault.on(Publishing.WRITES).times(1)));
        }
        context.transcript().note("the API server is down for " + OUTAGE.toSeconds() + " s");
        context.proxy().down();
        try {
            publishing.deleteAll(before);
            publishing.await(seen -> false, OUTAGE);
        } finally {
            context.proxy().up();
        }
        Duration usual = context.timeouts().repair().plus(context.timeouts().change());
        Duration timeout = usual.compareTo(LEAST) < 0 ? LEAST : usual;
        publishing.restored(
                before,
                "they were deleted while the API server was down (" + written
                        + "), and the writes that followed were answered by 500, 503, 429, 409 Conflict, 409 AlreadyExists and a broken connection",
                timeout);
        long left = failures.stream().filter(failure -> !failure.over()).count();
        context.transcript().note(left + " of the failures were not needed");
        Violation.unless(context.driver().isReady())
                .because(
                        "the driver did not survive failing writes of slices: %s",
                        context.driver().fate());
    }

    private static List<Fault> failures() {
        return List.of(
                Fault.status(500, "InternalError"),
                Fault.status(503, "ServiceUnavailable"),
                Fault.status(429, "TooManyRequests").retryAfter(Duration.ofSeconds(1)),
                Fault.status(409, "AlreadyExists"),
                Fault.status(409, "Conflict"),
                Fault.drop());
    }

    @Rule("DRA-SLICE-14")
    @ExecutionGroup.On(ExecutionGroup.OPTIONAL)
    void writesThatAreRefusedForGoodAreRare() throws InterruptedException {
        SeenPools before = publishing.settled();
        Injection refusal = context.inject(Fault.status(422, "Invalid").on(Publishing.WRITES));
        int number = context.proxy().lastNumber();
        publishing.deleteAll(before);
        try {
            Predicate<RecordedRequest> writes = Publishing.WRITES.and(Requests.after(number));
            if (context.isRequested(context.timeouts().cachedRepair(), writes)) {
                tooMany(writes, MOST_WRITES * before.byPool().size());
            } else {
                context.transcript().note("the driver has not written at all");
            }
            Violation.unless(context.driver().isReady())
                    .because(
                            "the driver did not survive the refusal of its slices with 422: %s",
                            context.driver().fate());
        } finally {
            refusal.close();
            publishing.repair(before);
        }
    }

    /** Stops waiting as soon as there are too many. */
    private void tooMany(Predicate<RecordedRequest> writes, int most) {
        try {
            List<RecordedRequest> all = context.proxy()
                    .awaitAll(WINDOW, seen -> seen.stream().filter(writes).count() > most);
            counted(all.stream().filter(writes).count(), most);
            throw new Violation(
                    "the API server refused every write of a slice with 422, and the driver wrote %d times within %d s; at most %d a minute are enough",
                    all.stream().filter(writes).count(), WINDOW.toSeconds(), most);
        } catch (AssertionError e) {
            counted(context.proxy().requests(writes).size(), most);
        }
    }

    private void counted(long writes, int most) {
        context.measurements().count("refused writes of slices in " + WINDOW.toSeconds() + " s", writes, most);
    }
}
