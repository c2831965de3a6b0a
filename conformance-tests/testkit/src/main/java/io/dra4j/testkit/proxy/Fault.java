// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.function.Predicate;

/**
 * A fault that replaces the usual response to requests: to all of them until it is removed, unless {@link #on} and
 * {@link #times} limit it.
 *
 * <p>Immutable: every method returns another fault.
 */
public final class Fault {

    private final Effect effect;
    private final Predicate<RecordedRequest> matcher;
    private final int times;

    private Fault(Effect effect, Predicate<RecordedRequest> matcher, int times) {
        this.effect = effect;
        this.matcher = matcher;
        this.times = times;
    }

    private static Fault of(Effect effect) {
        return new Fault(effect, Requests.all(), Integer.MAX_VALUE);
    }

    /**
     * The proxy responds with an API {@code Status}, and the server gets no request.
     *
     * @param code for example 409
     * @param reason the API's reason, for example {@code AlreadyExists}
     */
    public static Fault status(int code, String reason) {
        return of(new Effect.Status(code, requireNonNull(reason), Duration.ZERO));
    }

    /** The connection is closed without a response; the request does not reach the server. */
    public static Fault drop() {
        return of(Effect.Plain.DROP);
    }

    /** The request is held, for a while or until the fault is removed, before it continues. */
    public static Fault delay(Duration duration) {
        return of(new Effect.Delay(requireNonNull(duration)));
    }

    /** The response begins, but nothing follows: a watch that is open but silent. */
    public static Fault stall() {
        return of(Effect.Plain.STALL);
    }

    /**
     * A watch begins and ends immediately with the event ERROR, 410 Gone, in the format of the watch.
     *
     * <p>The other form that servers use is {@code status(410, "Expired")}.
     */
    public static Fault gone() {
        return of(Effect.Plain.GONE);
    }

    /**
     * Adds the time to wait, in whole seconds, to the header and the Status.
     *
     * @throws IllegalStateException if this fault has no status
     */
    public Fault retryAfter(Duration wait) {
        if (!(effect instanceof Effect.Status status)) {
            throw new IllegalStateException("only a status can have a Retry-After");
        }
        return new Fault(new Effect.Status(status.code(), status.reason(), wait), matcher, times);
    }

    /** The requests it is for; the predicate gets a request as it arrives. */
    public Fault on(Predicate<RecordedRequest> requests) {
        return new Fault(effect, requireNonNull(requests), times);
    }

    /** The number of requests it is for; afterwards it has no effect. */
    public Fault times(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("a fault must happen at least once, not " + count);
        }
        return new Fault(effect, matcher, count);
    }

    Effect effect() {
        return effect;
    }

    boolean concerns(RecordedRequest request) {
        return matcher.test(request);
    }

    int times() {
        return times;
    }
}
