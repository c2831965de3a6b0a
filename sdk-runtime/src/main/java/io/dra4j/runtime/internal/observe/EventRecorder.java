// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

/** Delivers events to the host and the cluster's admins. */
@FunctionalInterface
public interface EventRecorder {

    /**
     * Records an event; returns at once, and never throws.
     *
     * <p>The same event may come again and again while a problem lasts: those that repeat the last
     * one about their subject are not passed on each time.
     */
    void record(DriverEvent event);
}
