// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import java.io.IOException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The process in which a disk is mounted; it decides before each operation how the operation ends. */
public interface Owner {

    /**
     * Decides about one operation, which has had no effect yet.
     *
     * <p>It may let other threads run. An {@link IOException} fails the operation, which then has no effect; after a
     * failed sync, the pages count as clean, though they are not durable. An {@link Error} ends the thread; after
     * {@link Disk#died}, each call must throw one.
     */
    Outcome before(DiskOperation operation) throws IOException;

    /** Returns the time of files that change now. */
    Instant now();

    /**
     * The outcome of an operation, which only reads and writes use.
     *
     * @param bytes the most bytes to read or write; at least 1 if there is no failure
     * @param failure the exception to throw after that many bytes
     */
    record Outcome(int bytes, @Nullable IOException failure) {

        public static final Outcome ALL = new Outcome(Integer.MAX_VALUE, null);
    }
}
