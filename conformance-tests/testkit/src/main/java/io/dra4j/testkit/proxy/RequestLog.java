// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** All requests in the order of arrival, each as far as it has progressed; thread-safe. */
final class RequestLog {

    private final InstantSource clock;
    private final List<RecordedRequest> requests = new ArrayList<>(); // guarded by this

    RequestLog(InstantSource clock) {
        this.clock = clock;
    }

    synchronized RecordedRequest arrived(
            String method, String path, Map<String, String> query, String body, String client) {
        RecordedRequest request =
                RecordedRequest.arrived(requests.size() + 1, clock.instant(), method, path, query, body, client);
        requests.add(request);
        notifyAll();
        return request;
    }

    void fault(int number, String words) {
        update(number, request -> request.withFault(words));
    }

    void status(int number, int code) {
        update(number, request -> request.withStatus(code));
    }

    /** The first end counts: a cut is often noticed twice. */
    void ended(int number, String errorBody) {
        Instant now = clock.instant();
        update(number, one -> one.ended() == null ? one.withEnd(now, errorBody) : one);
    }

    private synchronized void update(int number, UnaryOperator<RecordedRequest> change) {
        requests.set(number - 1, change.apply(requests.get(number - 1)));
        notifyAll();
    }

    synchronized List<RecordedRequest> all() {
        return List.copyOf(requests);
    }

    synchronized int size() {
        return requests.size();
    }

    /** Looks again after every arrival, response and end; empty on a timeout. */
    synchronized Optional<List<RecordedRequest>> await(Duration timeout, Predicate<List<RecordedRequest>> wanted)
            throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        List<RecordedRequest> seen = all();
        while (!wanted.test(seen)) {
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return Optional.empty();
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
            seen = all();
        }
        return Optional.of(seen);
    }
}
