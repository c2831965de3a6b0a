// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

/** Takes notices to whoever should hear them. */
@FunctionalInterface
public interface EventRecorder {

    /**
     * Takes a notice; returns at once, and never throws.
     *
     * <p>The same notice may come again and again while a problem lasts: those that repeat the last
     * one about their subject are not passed on each time.
     */
    void take(DriverEvent notice);
}
