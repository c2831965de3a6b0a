// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

/**
 * A lock that one thread of one process of the driver holds at a time, on the whole node.
 *
 * <p>{@link DriverContext#lock} takes it. It ends when it is closed, with its driver, or with its
 * process, also one that is killed. Thread-safe: any thread may close it.
 */
public interface NodeLock extends AutoCloseable {

    /** Gives the lock back; a second call does nothing. */
    @Override
    void close();
}
