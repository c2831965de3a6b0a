// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedClaim;
import java.util.Objects;

/** Builds claims as the runtime passes them to a provider that unprepares, or restarts. */
public final class HeldClaims {

    private HeldClaims() {}

    /**
     * Returns a claim that has been prepared without a checkpoint.
     *
     * @param claim the claim that was prepared
     * @param prepared what the provider returned, with its state
     * @return the claim, {@link Phase#PREPARED}
     */
    public static HeldClaim prepared(AllocatedClaim claim, PreparedClaim prepared) {
        return prepared(claim, prepared, new RecordingClaimContext());
    }

    /**
     * Returns a claim that has been prepared.
     *
     * @param claim the claim that was prepared
     * @param prepared what the provider returned
     * @param context the context of that prepare, whose last checkpoint is the claim's state if the result has none
     * @return the claim, {@link Phase#PREPARED}
     */
    public static HeldClaim prepared(AllocatedClaim claim, PreparedClaim prepared, RecordingClaimContext context) {
        Objects.requireNonNull(prepared, "prepared");
        HeldClaim.Builder held = interrupted(claim, context).toBuilder().phase(Phase.PREPARED);
        return (prepared.state() == null ? held : held.state(prepared.state())).build();
    }

    /**
     * Returns a claim whose prepare was interrupted by a crash or a failure.
     *
     * @param claim the claim that should have been prepared
     * @param context the context of that prepare, whose last checkpoint is the claim's state
     * @return the claim, {@link Phase#PREPARING}
     */
    public static HeldClaim interrupted(AllocatedClaim claim, RecordingClaimContext context) {
        Objects.requireNonNull(context, "context");
        return builder(claim)
                .phase(Phase.PREPARING)
                .state(context.lastCheckpoint().orElse(null))
                .build();
    }

    /**
     * Starts a held claim with the devices of an allocated one.
     *
     * @param claim the claim, in code or from YAML: {@link AllocatedClaims}
     * @return a builder of a prepared claim without state
     */
    public static HeldClaim.Builder builder(AllocatedClaim claim) {
        Objects.requireNonNull(claim, "claim");
        return HeldClaim.builder(claim.ref())
                .devices(claim.devices().stream().map(AllocatedDevice::held).toList());
    }
}
