// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.function.Predicate;

/**
 * What is to happen to requests instead of being answered as usual; to all of them until it is
 * removed, unless {@link #on} and {@link #times} say less.
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
     * The proxy answers an API {@code Status} itself, and the server is not asked.
     *
     * @param code for example 409
     * @param reason the API's word for it, for example {@code AlreadyExists}
     */
    public static Fault status(int code, String reason) {
        return of(new Effect.Answer(code, requireNonNull(reason), Duration.ZERO));
    }

    /** The connection is closed without an answer; the request does not reach the server. */
    public static Fault drop() {
        return of(new Effect.Drop());
    }

    /** The server does what it is asked, and the connection is closed instead of an answer. */
    public static Fault dropAfterSend() {
        return of(new Effect.DropAfterSend());
    }

    /** The request is held, for a while or until the fault is removed, before it goes on. */
    public static Fault delay(Duration duration) {
        return of(new Effect.Delay(requireNonNull(duration)));
    }

    /** The answer begins, and nothing follows, for ever: a watch that is open but silent. */
    public static Fault stall() {
        return of(new Effect.Stall());
    }

    /**
     * A watch begins and ends at once with the event ERROR, 410 Gone, in the format of the watch.
     *
     * <p>The other way in which servers say so is {@code status(410, "Expired")}.
     */
    public static Fault gone() {
        return of(new Effect.Gone());
    }

    /**
     * Tells the client, in the header and in the Status, how long to wait: whole seconds.
     *
     * @throws IllegalStateException if this fault answers no status
     */
    public Fault retryAfter(Duration wait) {
        if (!(effect instanceof Effect.Answer answer)) {
            throw new IllegalStateException("only an answer can say when to come again");
        }
        return new Fault(new Effect.Answer(answer.code(), answer.reason(), wait), matcher, times);
    }

    /** Which requests it is for; the predicate sees a request as it arrives. */
    public Fault on(Predicate<RecordedRequest> requests) {
        return new Fault(effect, requireNonNull(requests), times);
    }

    /** How many requests it is for; afterwards it does nothing. */
    public Fault times(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("a fault happens at least once, not " + count);
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
