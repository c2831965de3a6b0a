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

/** The context in which the sharing of one group is applied or undone; of the call's thread. */
public interface SharingContext {

    /** Returns the claim. */
    ClaimRef claim();

    /** Returns the moment at which the kubelet gives the call up. */
    Instant deadline();

    /** Returns the time until then; zero if it is over. */
    Duration left();

    /**
     * Returns the timeout of a step: it ends a second before the call, which has to be answered.
     *
     * @param longest the timeout of a step of a call that has time
     */
    default Duration timeout(Duration longest) {
        Duration left = left().minus(Duration.ofSeconds(1));
        return left.compareTo(longest) > 0 ? longest : left.isNegative() ? Duration.ZERO : left;
    }

    /** Records the strategy's state of the group, durably; it comes before the change that it describes. */
    void record(ProviderState state);

    /**
     * Records, durably, that the group has no part in a target any more.
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
     * Puts settings of a GPU back. What can't be now does not keep the claim: it is reported, tried
     * again by {@link SharingStrategy#clean}, and until then the GPU's devices have a taint.
     *
     * @param gpu the UUID of the GPU
     * @param work returns what the cluster's admins should know; empty for nothing
     */
    void putBack(String gpu, Supplier<Optional<String>> work);

    /**
     * Tells the cluster's admins what the claim's owner may not expect, by a log line and an Event.
     *
     * @param device the name of the device that it is about
     * @param message one or two sentences, which name the claim
     */
    void notice(String device, String message);
}
