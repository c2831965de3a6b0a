// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.state;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.claim.ProviderState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Records the state of one claim in the journal, part by part; what it has recorded survives a
 * crash. Used by the thread of the call.
 */
public final class ClaimRecorder {

    private final ClaimContext context;
    private ClaimState state;

    public ClaimRecorder(ClaimState state, ClaimContext context) {
        this.state = state;
        this.context = context;
    }

    public ClaimState state() {
        return state;
    }

    /** Returns the time at which the kubelet abandons the call. */
    public Instant deadline() {
        return context.deadline();
    }

    public void recordMig(ProviderState mig) {
        record(state.withMig(mig));
    }

    /** Records the GPUs that the claim takes from NVIDIA's driver; null once it has none. */
    public void recordLent(@Nullable ProviderState lent) {
        record(state.withLent(lent));
    }

    /** Records the claim's partition of the fabric; null once it has none. */
    public void recordPartition(@Nullable ProviderState partition) {
        record(state.withPartition(partition));
    }

    public void record(SharingRecord sharing) {
        record(state.with(sharing));
    }

    /** Records that the sharing by one configuration has ended completely. */
    public void forget(String group) {
        record(state.without(group));
    }

    private void record(ClaimState changed) {
        context.checkpoint(changed.toProviderState());
        state = changed;
    }
}
