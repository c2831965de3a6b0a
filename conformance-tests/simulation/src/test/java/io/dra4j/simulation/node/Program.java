// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.node;

/** A driver's program. */
public interface Program {

    /** Starts it, and returns once it serves. */
    void start();

    /** Ends it, as SIGTERM does. */
    void stop();
}
