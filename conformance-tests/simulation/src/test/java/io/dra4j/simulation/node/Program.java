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

    /** Clears the static fields of a killed process, and with them its view of the disk. */
    void forget(FileSystem mounted);
}
