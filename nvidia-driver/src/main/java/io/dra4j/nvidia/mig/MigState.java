// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The recorded state of a claim: its MIG devices.
 *
 * @param allocations the MIG devices in the order of their creation
 */
record MigState(@JsonProperty("parts") List<MigAllocation> allocations) {

    private static final int VERSION = 1;

    private static final JsonMapper JSON =
            JsonMapper.builder()
                    .defaultPropertyInclusion(
                            JsonInclude.Value.construct(
                                    JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
                    .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                    .build();

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
        return new MigState(
                allocations.stream()
                        .filter(other -> !other.device().equals(destroyed.device()))
                        .toList());
    }

    ProviderState toProviderState() {
        try {
            return new ProviderState(VERSION, JSON.writeValueAsString(this));
        } catch (JsonProcessingException e) {
            throw new DraException("Can't write the state of a claim", e);
        }
    }

    /**
     * Reads the recorded state.
     *
     * @param state null if no MIG device was ever begun
     * @throws DraException if a newer driver wrote it, or it is damaged
     */
    static MigState read(@Nullable ProviderState state) {
        if (state == null) {
            return none();
        }
        if (state.version() != VERSION) {
            throw new DraException(
                    "The claim's state has version %d, and this driver supports version %d: a newer driver prepared it"
                            .formatted(state.version(), VERSION));
        }
        try {
            return JSON.readValue(state.rawJson(), MigState.class);
        } catch (JsonProcessingException e) {
            throw new DraException("The claim's state can't be read: " + state.rawJson(), e);
        }
    }
}
