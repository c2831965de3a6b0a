// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.node;

import java.nio.file.FileSystem;

/** A driver's program. */
public interface Program {

    /** Starts it, and returns once it serves. */
    void start();

    /** Ends it, as SIGTERM does. */
    void stop();

    /** Removes what is left in static fields of a process that was killed, with its view of the disk. */
    void forget(FileSystem mounted);
}
