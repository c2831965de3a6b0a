// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Writes of slices that fail: for a while, or for good. */
@Lane.On(Lane.TROUBLE)
final class SliceTroubleRules {

    private static final Duration OUTAGE = Duration.ofSeconds(2);

    /** Who waits twice as long after each failure is not done sooner, whatever the patience. */
    private static final Duration LEAST = Duration.ofSeconds(60);

    /** Contract: so many writes in this time are enough for whoever is refused. */
    private static final Duration WINDOW = Duration.ofSeconds(60);

    private static final int MOST_WRITES = 30;

    private final Bench bench;
    private final Publishing publishing;

    SliceTroubleRules(Bench bench) {
        this.bench = bench;
        publishing = new Publishing(bench);
    }

    /** One wait for all: each write meets the next failure, until none is left. */
    @Rule("DRA-SLICE-13")
    void failuresThatPassAreSurvived() throws InterruptedException {
        SeenPools before = publishing.settled();
        List<Injection> failures = new ArrayList<>();
        for (Fault fault : failures()) {
            failures.add(bench.inject(fault.on(Publishing.WRITES).times(1)));
        }
        bench.transcript().note("the API server is down for " + OUTAGE.toSeconds() + " s");
        bench.proxy().down();
        try {
            publishing.deleteAll(before);
            publishing.await(seen -> false, OUTAGE);
        } finally {
            bench.proxy().up();
        }
        Duration usual = bench.patience().repair().plus(bench.patience().change());
        Duration patience = usual.compareTo(LEAST) < 0 ? LEAST : usual;
        publishing.restored(
                before,
                "they were deleted while the API server was down, and the writes that followed were answered by 500, 503, 429, 409 Conflict, 409 AlreadyExists and a broken connection",
                patience);
        long left = failures.stream().filter(failure -> !failure.over()).count();
        bench.transcript().note(left + " of the failures were not needed");
        Violation.unless(
                bench.driver().isReady(),
                "the driver did not survive failing writes of slices: %s",
                bench.driver().fate());
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
    @Lane.On(Lane.OPTIONAL)
    void writesThatAreRefusedForGoodAreRare() throws InterruptedException {
        SeenPools before = publishing.settled();
        Injection refusal = bench.inject(Fault.status(422, "Invalid").on(Publishing.WRITES));
        int number = bench.proxy().lastNumber();
        publishing.deleteAll(before);
        try {
            Predicate<RecordedRequest> writes = Publishing.WRITES.and(Requests.after(number));
            if (publishing.happens(writes, bench.patience().cachedRepair())) {
                tooMany(writes);
            } else {
                bench.transcript().note("the driver has not written at all");
            }
            Violation.unless(
                    bench.driver().isReady(),
                    "the driver did not survive that its slices were refused with 422: %s",
                    bench.driver().fate());
        } finally {
            refusal.close();
            publishing.mend(before);
        }
    }

    /** Waits no longer than until they are too many. */
    private void tooMany(Predicate<RecordedRequest> writes) {
        try {
            List<RecordedRequest> all =
                    bench.proxy()
                            .awaitAll(
                                    WINDOW,
                                    seen -> seen.stream().filter(writes).count() > MOST_WRITES);
            counted(all.stream().filter(writes).count());
            throw new Violation(
                    "the API server refused every write of a slice with 422, and the driver wrote %d times within %d s; at most %d a minute are enough"
                            .formatted(
                                    all.stream().filter(writes).count(),
                                    WINDOW.toSeconds(),
                                    MOST_WRITES));
        } catch (AssertionError e) {
            counted(bench.proxy().requests(writes).size());
        }
    }

    private void counted(long writes) {
        bench.measurements()
                .count(
                        "refused writes of slices in " + WINDOW.toSeconds() + " s",
                        writes,
                        MOST_WRITES);
    }
}
