// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.runtime.RecordState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The recorded state of a claim: its MIG devices.
 *
 * @param allocations the MIG devices in the order of their creation
 */
record MigState(@JsonProperty("parts") List<MigAllocation> allocations) {

    private static final RecordState<MigState> FORM = RecordState.of(2, MigState.class);

    MigState {
        allocations = List.copyOf(allocations);
    }

    static MigState none() {
        return new MigState(List.of());
    }

    MigState with(MigAllocation changed) {
        List<MigAllocation> all = new ArrayList<>(allocations);
        all.removeIf(other -> other.device().equals(changed.device()));
        all.add(changed);
        return new MigState(all);
    }

    MigState without(MigAllocation destroyed) {
        return new MigState(allocations.stream()
                .filter(other -> !other.device().equals(destroyed.device()))
                .toList());
    }

    ProviderState toProviderState() {
        return FORM.write(this);
    }

    /**
     * Reads the recorded state.
     *
     * @param state null if no MIG device was ever begun
     * @throws io.dra4j.api.error.DraException if a newer driver wrote it, or it is damaged
     */
    static MigState read(@Nullable ProviderState state) {
        return state == null ? none() : FORM.read(state);
    }
}
