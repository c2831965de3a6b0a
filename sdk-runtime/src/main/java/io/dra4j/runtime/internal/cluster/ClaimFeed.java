// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import java.util.function.Consumer;

/**
 * The claims of the cluster and their changes.
 *
 * <p>All methods except {@link Watch#close} block for at most a minute, and throw {@link ClusterException}; none
 * retries.
 */
public interface ClaimFeed {

    /**
     * Lists the claims as JSON, passing on each before reading the next; some also if the list then fails.
     *
     * @return the moment, for a watch
     */
    String list(Consumer<String> claim);

    /**
     * Watches claims after a list; the listener gets claims as JSON, and a
     * bookmark about once a minute if nothing happens.
     */
    Watch watch(String resourceVersion, Watch.Listener<String> listener);
}
