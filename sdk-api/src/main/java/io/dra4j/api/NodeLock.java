// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

/**
 * A lock that only one thread among all processes of the driver on a node can hold at a time.
 *
 * <p>{@link DriverContext#lock} takes it. It is released when it is closed, when its driver has closed and the last
 * prepare or unprepare has ended, or when its process ends, even if it is killed. Thread-safe: any thread may close it.
 */
public interface NodeLock extends AutoCloseable {

    /** Releases the lock; a second call does nothing. */
    @Override
    void close();
}
