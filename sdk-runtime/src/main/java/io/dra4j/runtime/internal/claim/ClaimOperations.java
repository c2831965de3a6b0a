// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The kubelet's calls, free of wire versions: the seam between the gRPC services and claim preparation.
 *
 * <p>Both calls are thread-safe, answer each claim of the request exactly once, and report the failure of a claim in
 * its own outcome.
 */
public interface ClaimOperations {

    /**
     * Prepares the claims.
     *
     * @param deadline until when the kubelet waits; the answer comes about a second before, though
     *     work that was begun goes on
     */
    Map<ClaimRef, PrepareOutcome> prepare(List<ClaimRef> claims, Instant deadline);

    /**
     * Unprepares the claims; one that is not known is done already.
     *
     * @param uids the claims by their identity: their names may be anything
     * @param deadline as of {@link #prepare}
     */
    Map<String, UnprepareOutcome> unprepare(List<String> uids, Instant deadline);
}
