// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import io.dra4j.api.container.ContainerEdits;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of preparing a claim.
 *
 * <p>It describes what containers get and has no effect of its own: the runtime keeps it in the
 * journal and writes the CDI spec from it again at any time, without the provider. No devices is a
 * legal result, of a driver that injects by other means (NRI).
 *
 * @param devices the prepared devices, each an allocated device of the claim
 * @param edits what every container that uses any device of the claim receives, once
 * @param state what the provider wants to find again when the claim is unprepared, or {@code null}
 */
public record PreparedClaim(
        List<PreparedDevice> devices, ContainerEdits edits, @Nullable ProviderState state) {

    /** Copies the list. */
    public PreparedClaim {
        devices = List.copyOf(devices);
    }

    /**
     * Returns an answer of devices alone.
     *
     * @param devices the prepared devices
     * @return the answer
     */
    public static PreparedClaim of(List<PreparedDevice> devices) {
        return new PreparedClaim(devices, ContainerEdits.NONE, null);
    }

    /**
     * Returns the answer of a driver that gives containers nothing through CDI.
     *
     * @return an answer without devices
     */
    public static PreparedClaim empty() {
        return of(List.of());
    }

    /**
     * Sets what every container of the claim receives.
     *
     * @param claimEdits the edits
     * @return a copy of this answer
     */
    public PreparedClaim withEdits(ContainerEdits claimEdits) {
        return new PreparedClaim(devices, claimEdits, state);
    }

    /**
     * Sets what the provider wants to find again.
     *
     * @param kept the state
     * @return a copy of this answer
     */
    public PreparedClaim withState(ProviderState kept) {
        return new PreparedClaim(devices, edits, kept);
    }
}
