// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import java.time.Instant;

/** Reads a claim's object from the API server: the seam to the cluster. */
@FunctionalInterface
public interface ClaimReader {

    /**
     * Reads the object now, never from a cache; transient errors are retried until the deadline.
     *
     * @throws io.dra4j.api.error.DraException if there is no object, or it can't be read in time
     */
    ClaimObject read(ClaimRef claim, Instant deadline);
}
