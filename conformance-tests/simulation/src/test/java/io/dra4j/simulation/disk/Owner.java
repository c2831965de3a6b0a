// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import java.io.IOException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The process that a disk is mounted in; it decides before each operation how that ends. */
public interface Owner {

    /**
     * Decides about one operation, which has had no effect yet.
     *
     * <p>It may let other threads run. An {@link IOException} fails the operation, and nothing of it is done; that of a
     * sync has the pages count as clean, though they are not durable. An {@link Error} ends the thread; after
     * {@link Disk#died} each call has to throw one.
     */
    Outcome before(DiskOperation operation) throws IOException;

    /** Returns the time that files get which change now. */
    Instant now();

    /**
     * The end of an operation; only reads and writes look at it.
     *
     * @param bytes how many bytes are read or written at most, at least 1 if there is no failure
     * @param failure thrown after that many bytes
     */
    record Outcome(int bytes, @Nullable IOException failure) {

        public static final Outcome ALL = new Outcome(Integer.MAX_VALUE, null);
    }
}
