// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

/** Delivers events to the host and the cluster's admins. */
@FunctionalInterface
public interface EventRecorder {

    /**
     * Records an event; returns immediately, and never throws.
     *
     * <p>The same event may be recorded repeatedly while a problem lasts: not all repetitions of the last event about a
     * subject are passed on.
     */
    void record(DriverEvent event);
}
