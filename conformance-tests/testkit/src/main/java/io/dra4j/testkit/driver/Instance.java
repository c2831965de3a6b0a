// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** One running instance of the driver under test. Thread-safe. */
public interface Instance {

    /** Returns whether it still runs, if known. */
    boolean isAlive();

    /** Its process id, if it has a separate process. */
    default OptionalLong pid() {
        return OptionalLong.empty();
    }

    /** Asks it to end, as the termination of its pod does (SIGTERM); does not wait. */
    void terminate();

    /** Kills it, as a crash does (SIGKILL), and waits until it has ended. */
    void kill();

    /** Kills it and every process that it has started, for example the driver of a script, at the end of a run. */
    default void end() {
        kill();
    }

    /** Waits for its end, and returns its exit status; empty if it has not ended in time. */
    OptionalInt awaitExit(Duration timeout);
}
