// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import java.util.List;

/**
 * All claims of the cluster, as they come and change.
 *
 * <p>All methods but {@link Watch#close} block for at most some seconds, and throw {@link
 * ClusterException}; none retries.
 */
public interface ClaimFeed {

    /** Reads all claims. */
    Snapshot list();

    /** Follows what happens to claims after a snapshot; it ends as watches of slices do. */
    Watch watch(String resourceVersion, Listener listener);

    /**
     * All claims at one moment.
     *
     * @param claims the claims as JSON
     * @param resourceVersion the moment
     */
    record Snapshot(List<String> claims, String resourceVersion) {

        /** Copies the list. */
        public Snapshot {
            claims = List.copyOf(claims);
        }
    }

    /** Hears what happens to claims, in order, on threads of the client. */
    interface Listener {
        /** A claim was created or changed. */
        void changed(String claimJson);

        /** A claim was deleted. */
        void deleted(String claimJson);

        /** The watch has ended by itself: list again. */
        void ended(String reason);
    }

    /** A running watch. */
    interface Watch extends AutoCloseable {
        /** Ends the watch; the listener hears no end of it. */
        @Override
        void close();
    }
}
