// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import io.dra4j.api.claim.ProviderState;
import java.time.Instant;

/**
 * The context in which one claim is prepared or unprepared.
 *
 * <p>A context is valid only during the call that receives it. Thread-safe.
 */
public interface ClaimContext {

    /**
     * Returns the time until which the kubelet waits for the result.
     *
     * <p>The runtime never interrupts a provider: work that continues beyond the deadline is kept, and the kubelet's
     * next attempt joins it.
     *
     * @return the time at which the kubelet gives up on the call
     */
    Instant deadline();

    /**
     * Stores a state of the claim durably; call it before the change that the state describes.
     *
     * <p>When the call returns, the state survives a crash of the process and of the node; {@link
     * DeviceProvider#unprepare} then receives the last checkpointed state, and can undo what was done. A provider that
     * changes no hardware need not call it, and pays nothing.
     *
     * @param state what the provider must know to undo what it does next
     * @throws io.dra4j.api.error.DraException if the state can't be written; do not continue then
     */
    void checkpoint(ProviderState state);
}
