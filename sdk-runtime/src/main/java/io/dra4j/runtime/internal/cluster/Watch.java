// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

/**
 * A running watch of objects in the cluster.
 *
 * <p>It ends when its connection does, when the server no longer has the changes since then, or on {@link #close}.
 */
public interface Watch extends AutoCloseable {

    /** Ends the watch; the listener is not notified of that. */
    @Override
    void close();

    /**
     * Is notified of objects' changes, in order, on threads of the client.
     *
     * @param <T> what is watched
     */
    interface Listener<T> {

        void changed(T object);

        void deleted(T object);

        /** Nothing happened, and the watch is alive. */
        default void bookmark() {}

        /** The watch has ended without being closed: list again. */
        void ended(String reason);
    }
}
