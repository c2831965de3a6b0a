// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import java.time.Duration;

/**
 * The limits of time. Limits of the kubelet's contract are constants; all others are multiplied by a factor, for slow
 * drivers and machines.
 */
public record Timeouts(double factor) {

    /** Contract: GetInfo is answered within it, or the kubelet gives up. */
    public static final Duration GET_INFO = Duration.ofSeconds(1);

    /** Contract: NotifyRegistrationStatus is answered within it. */
    public static final Duration NOTIFY = Duration.ofSeconds(5);

    /** Contract: prepare and unprepare are answered within it. */
    public static final Duration PREPARE = Duration.ofSeconds(45);

    /** Contract: SIGTERM ends the process within it. */
    public static final Duration SHUTDOWN = Duration.ofSeconds(10);

    /** Contract: the first complete list of a health stream comes within it. */
    public static final Duration FIRST_HEALTH = Duration.ofSeconds(5);

    /** Work that a driver does immediately when it is notified. */
    public Duration soon() {
        return times(Duration.ofSeconds(10));
    }

    /** The repair of slices, which client-go's helper does after 30 s. */
    public Duration repair() {
        return times(Duration.ofSeconds(60));
    }

    /**
     * The repair of slices that may have been written less than a minute ago: the Go helper keeps
     * what it wrote in a mutation cache for 60 s, and notices a deletion only then.
     */
    public Duration cachedRepair() {
        return times(Duration.ofSeconds(90));
    }

    /**
     * The recovery from silent connections: client-go gives one up after 45 s, by two pings, and its helper repairs
     * slices 30 s later, or when its mutation cache of 60 s is empty; a client that relies on bookmarks, one a minute,
     * misses two or three.
     */
    public Duration silence() {
        return times(Duration.ofSeconds(180));
    }

    /** A periodic check that a driver makes once a minute. */
    public Duration look() {
        return times(Duration.ofSeconds(75));
    }

    /** The reaction to a change of the hardware. */
    public Duration change() {
        return times(Duration.ofSeconds(30));
    }

    public Duration times(Duration usual) {
        return Duration.ofMillis(Math.round(usual.toMillis() * factor));
    }
}
