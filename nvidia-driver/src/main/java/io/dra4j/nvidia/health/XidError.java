// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.nvidia.nvml.InstancePlacement;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An error that a GPU reported.
 *
 * @param where the memory slices of the GPU instance; null for the whole GPU
 * @param sinceMillis the time of the error, in milliseconds since 1970
 * @param awaitsRecovery whether it persists until the GPU has recovered; otherwise it expires
 */
record XidError(long xid, @Nullable InstancePlacement where, long sinceMillis, Effect effect, boolean awaitsRecovery) {

    /**
     * Reads an error from the state file.
     *
     * @param harmless the field that the first form of the file had instead of the effect
     */
    @JsonCreator
    static XidError read(
            @JsonProperty("xid") long xid,
            @JsonProperty("where") @Nullable InstancePlacement where,
            @JsonProperty("sinceMillis") long sinceMillis,
            @JsonProperty("effect") @Nullable Effect effect,
            @JsonProperty("awaitsRecovery") @Nullable Boolean awaitsRecovery,
            @JsonProperty("harmless") @Nullable Boolean harmless) {
        boolean isFatal = !Boolean.TRUE.equals(harmless);
        Effect known = effect != null ? effect : isFatal ? Effect.NO_SCHEDULE : Effect.NONE;
        boolean awaits = awaitsRecovery != null ? awaitsRecovery : known != Effect.NONE;
        return new XidError(xid, where, sinceMillis, known, awaits);
    }

    boolean isHarmless() {
        return effect == Effect.NONE;
    }

    boolean isSame(XidError other) {
        return xid == other.xid && Objects.equals(where, other.where);
    }

    boolean hasSameEffect(XidError other) {
        return effect == other.effect && awaitsRecovery == other.awaitsRecovery;
    }

    /** Returns the error with at least its previous effect, since a recovery has to be verified first. */
    XidError after(XidError before) {
        Effect worse = effect.compareTo(before.effect) < 0 ? before.effect : effect;
        return new XidError(xid, where, sinceMillis, worse, awaitsRecovery || before.awaitsRecovery);
    }

    /** Returns the error as it counts while the GPU needs a recovery. */
    XidError awaitingRecovery(XidEffects effects) {
        boolean isUnchanged = effects.isChosen(xid) || !isHarmless();
        return new XidError(xid, where, sinceMillis, isUnchanged ? effect : Effect.NO_SCHEDULE, true);
    }
}
