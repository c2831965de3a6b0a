// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import java.util.List;

/**
 * The claims of the cluster and their changes.
 *
 * <p>All methods except {@link Watch#close} block for at most a few seconds, and throw {@link ClusterException}; none
 * retries.
 */
public interface ClaimFeed {

    Snapshot list();

    /**
     * Watches claims after a snapshot; the listener gets claims as JSON, and a
     * bookmark about once a minute if nothing happens.
     */
    Watch watch(String resourceVersion, Watch.Listener<String> listener);

    /**
     * All claims at one moment.
     *
     * @param claims the claims as JSON
     * @param resourceVersion the moment
     */
    record Snapshot(List<String> claims, String resourceVersion) {

        public Snapshot {
            claims = List.copyOf(claims);
        }
    }
}
