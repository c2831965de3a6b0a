// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.api;

import java.util.function.Predicate;

/** A fault of a request, between a client and a server that may both be healthy. */
public enum Fault {
    NONE(0, 0, call -> true),
    /** The connection is refused. */
    REFUSED(0, 0, call -> true),
    /** The request never arrives, and no answer comes. */
    LOST(0, 0, call -> true),
    /** The connection ends before the request takes effect. */
    RESET(0, 0, call -> true),
    /** It takes effect, and no answer comes. */
    ANSWER_LOST(0, 0, call -> !call.isWatch()),
    /** It takes effect, and the connection ends before the answer. */
    ANSWER_RESET(0, 0, call -> !call.isWatch()),
    /** It takes effect, and the connection ends in the middle of the answer. */
    ANSWER_CUT(0, 0, call -> !call.isWatch()),
    /** It takes effect, and the answer is 504. */
    TIMED_OUT_LATE(504, 0, call -> !call.isWatch()),
    /** It takes effect, and the answer is 500, as when etcd is too slow. */
    FAILED_LATE(500, 0, call -> !call.isWatch()),
    /** 504, without effect. */
    TIMED_OUT(504, 0, call -> true),
    FAILED(500, 0, call -> true),
    UNAVAILABLE(503, 0, call -> true),
    UNAUTHORIZED(401, 0, call -> true),
    /** 429; the client should retry after the given number of seconds. */
    THROTTLED(429, 10, call -> true),
    /** The answer is delayed by the given number of seconds. */
    SLOW(0, 40, call -> true),
    /** It takes effect the given number of seconds later, when the client may be gone. */
    LATE(0, 30, call -> call.verb().equals("create")),
    /** Another writer changes the object just before. */
    CONFLICT(0, 0, call -> call.isChange() && !call.name().isEmpty()),
    /** The list is that of an earlier revision, by the given number. */
    STALE(0, 50, call -> call.cached()),
    /** The server ends the watch after the given number of pieces. */
    WATCH_ENDED(0, 5, Call::isWatch),
    /** The connection of the watch ends after the given number of pieces. */
    WATCH_RESET(0, 5, Call::isWatch),
    /** The watch ends after the given number of pieces, with 410 Gone. */
    WATCH_EXPIRED(0, 5, Call::isWatch),
    /** The watch stays open, and gets nothing after the given number of pieces. */
    WATCH_SILENT(0, 5, Call::isWatch),
    /** Each piece of the watch is delayed by the given number of seconds. */
    WATCH_LATE(0, 20, Call::isWatch);

    final int status; // of the answer; 0 for the server's own answer
    final int most;
    private final Predicate<Call> fits;

    Fault(int status, int most, Predicate<Call> fits) {
        this.status = status;
        this.most = most;
        this.fits = fits;
    }

    boolean isAfterEffect() {
        return this == TIMED_OUT_LATE || this == FAILED_LATE;
    }

    /** Returns whether a request can have it. */
    public boolean fits(Call call) {
        return fits.test(call);
    }
}
