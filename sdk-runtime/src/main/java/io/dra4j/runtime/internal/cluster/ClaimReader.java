// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.claim.ClaimRef;
import java.time.Duration;
import java.util.function.BiConsumer;

/**
 * Reads claims' objects from the API server.
 *
 * <p>Nothing comes from a cache; transient errors are retried within the time given.
 */
public interface ClaimReader {

    /**
     * Reads a claim's object.
     *
     * @throws ClusterException if it can't be read in time; a {@code NotFound} if it does not exist
     */
    ClaimObject read(ClaimRef claim, Duration limit);

    /**
     * Reads the objects of all claims of the cluster, passing on each before reading the next: a cluster may have more
     * than fit into memory. After a transient error some are passed on again.
     *
     * @throws ClusterException if they can't be read in time; some may have been passed on
     */
    void readAll(Duration limit, BiConsumer<ClaimRef, ClaimObject> each);
}
