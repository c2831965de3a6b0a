// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * What the kubelet asks of a driver, free of wire versions: the seam between the gRPC services and
 * claim preparation.
 *
 * <p>Both calls are thread-safe, answer each claim of the request exactly once, and report the
 * failure of a claim in its own outcome.
 */
public interface ClaimOperations {

    /** Prepares the claims; ends by the deadline, though work that was begun goes on. */
    Map<ClaimRef, PrepareOutcome> prepare(List<ClaimRef> claims, Instant deadline);

    /** Unprepares the claims; a claim that is not known is done already. */
    Map<ClaimRef, UnprepareOutcome> unprepare(List<ClaimRef> claims, Instant deadline);
}
