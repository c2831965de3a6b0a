// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ProviderState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The context in which the sharing of one group is applied or undone; used by the call's thread. */
public interface SharingContext {

    /** Returns the claim. */
    ClaimRef claim();

    /** Returns the time at which the kubelet abandons the call. */
    Instant deadline();

    /** Returns the time until then; zero if it has passed. */
    Duration left();

    /**
     * Returns the timeout of a step: it ends a second before the call, which has to be answered.
     *
     * @param longest the timeout of a step if the call has enough time
     */
    default Duration timeout(Duration longest) {
        Duration left = left().minus(Duration.ofSeconds(1));
        return left.compareTo(longest) > 0 ? longest : left.isNegative() ? Duration.ZERO : left;
    }

    /** Records the strategy's state of the group, durably; it comes before the change that it describes. */
    void record(ProviderState state);

    /**
     * Records, durably, that the group no longer has a part in a target.
     *
     * @param target the UUID of a GPU or MIG device
     */
    void release(String target);

    /**
     * Returns the other groups with a part in a target: of other claims, and of this claim.
     *
     * @param target the UUID of a GPU or MIG device
     */
    List<HeldSharing> others(String target);

    /**
     * Restores settings of a GPU. A failure does not hold up the claim: it is reported and retried by
     * {@link SharingStrategy#clean}, and until then the GPU's devices have a taint.
     *
     * @param gpu the UUID of the GPU
     * @param work returns what the cluster's admins should know; empty for nothing
     */
    void putBack(String gpu, Supplier<Optional<String>> work);

    /**
     * Informs administrators, by a log line and an Event, of what the claim's owner may not expect.
     *
     * @param device the name of the device that it is about
     * @param message one or two sentences, which name the claim
     */
    void notice(String device, String message);
}
