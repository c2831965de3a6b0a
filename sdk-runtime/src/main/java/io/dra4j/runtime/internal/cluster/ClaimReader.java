// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.claim.ClaimRef;
import java.time.Duration;
import java.util.Map;

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
     * Reads the objects of all claims of the cluster.
     *
     * @throws ClusterException if they can't be read in time
     */
    Map<ClaimRef, ClaimObject> readAll(Duration limit);
}
