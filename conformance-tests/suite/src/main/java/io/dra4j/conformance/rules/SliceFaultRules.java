// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.Pools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Writes of slices that fail: for a while, or for good. */
@ExecutionGroup.On(ExecutionGroup.FAULTS)
record SliceFaultRules(TestContext context, Publishing publishing) {

    private static final Duration OUTAGE = Duration.ofSeconds(2);

    /** A driver that doubles its wait after each failure is not done sooner, for any timeout factor. */
    private static final Duration LEAST = Duration.ofSeconds(60);

    /** Contract: so many writes in this time are enough for whoever is refused. */
    private static final Duration WINDOW = Duration.ofSeconds(60);

    private static final int MOST_WRITES = 30;

    SliceFaultRules(TestContext context) {
        this(context, new Publishing(context));
    }

    /** One wait for all: each write meets the next failure, until none is left. */
    @Rule("DRA-SLICE-13")
    void failuresThatPassAreSurvived() throws InterruptedException {
        Pools before = publishing.rested();
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
        Pools before = publishing.settled();
        Injection refusal = context.inject(Fault.status(422, "Invalid").on(Publishing.WRITES));
        int number = context.proxy().lastNumber();
        publishing.deleteAll(before);
        try {
            Predicate<RecordedRequest> writes = Publishing.WRITES.and(Requests.after(number));
            if (publishing.happens(writes, context.timeouts().cachedRepair())) {
                tooMany(writes);
            } else {
                context.transcript().note("the driver has not written at all");
            }
            Violation.unless(context.driver().isReady())
                    .because(
                            "the driver did not survive that its slices were refused with 422: %s",
                            context.driver().fate());
        } finally {
            refusal.close();
            publishing.repair(before);
        }
    }

    /** Waits no longer than until they are too many. */
    private void tooMany(Predicate<RecordedRequest> writes) {
        try {
            List<RecordedRequest> all = context.proxy()
                    .awaitAll(WINDOW, seen -> seen.stream().filter(writes).count() > MOST_WRITES);
            counted(all.stream().filter(writes).count());
            throw new Violation(
                    "the API server refused every write of a slice with 422, and the driver wrote %d times within %d s; at most %d a minute are enough",
                    all.stream().filter(writes).count(), WINDOW.toSeconds(), MOST_WRITES);
        } catch (AssertionError e) {
            counted(context.proxy().requests(writes).size());
        }
    }

    private void counted(long writes) {
        context.measurements().count("refused writes of slices in " + WINDOW.toSeconds() + " s", writes, MOST_WRITES);
    }
}
