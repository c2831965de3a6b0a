// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.util.function.Predicate;

/** The predicates of requests, for faults, waits and counts. */
public final class Requests {

    private Requests() {}

    /** Every request. */
    public static Predicate<RecordedRequest> all() {
        return request -> true;
    }

    /** Creates, updates, patches and deletes, without dry runs. */
    public static Predicate<RecordedRequest> writes(String resource) {
        return to(resource).and(RecordedRequest::write);
    }

    /** Creates; no dry runs. */
    public static Predicate<RecordedRequest> creates(String resource) {
        return writes(resource).and(request -> request.method().equals("POST"));
    }

    /** Updates and patches; no dry runs. */
    public static Predicate<RecordedRequest> updates(String resource) {
        return writes(resource)
                .and(request ->
                        request.method().equals("PUT") || request.method().equals("PATCH"));
    }

    /** Lists; no watches. */
    public static Predicate<RecordedRequest> lists(String resource) {
        return to(resource).and(RecordedRequest::list);
    }

    /** Watches. */
    public static Predicate<RecordedRequest> watches(String resource) {
        return to(resource).and(RecordedRequest::watch);
    }

    /** All requests to a resource. */
    public static Predicate<RecordedRequest> to(String resource) {
        return request -> request.resource().equals(resource);
    }

    /** Requests after the one with this number. */
    public static Predicate<RecordedRequest> after(int number) {
        return request -> request.number() > number;
    }
}
