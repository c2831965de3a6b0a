// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is recorded of a claim: its parts of GPUs.
 *
 * @param parts in the order in which they were made
 */
record MigState(List<MigPart> parts) {

    private static final int VERSION = 1;

    private static final JsonMapper JSON =
            JsonMapper.builder()
                    .defaultPropertyInclusion(
                            JsonInclude.Value.construct(
                                    JsonInclude.Include.NON_NULL, JsonInclude.Include.ALWAYS))
                    .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                    .build();

    MigState {
        parts = List.copyOf(parts);
    }

    static MigState none() {
        return new MigState(List.of());
    }

    MigState with(MigPart part) {
        List<MigPart> all = new ArrayList<>(parts);
        all.removeIf(other -> other.device().equals(part.device()));
        all.add(part);
        return new MigState(all);
    }

    MigState without(MigPart part) {
        return new MigState(
                parts.stream().filter(other -> !other.device().equals(part.device())).toList());
    }

    ProviderState written() {
        try {
            return new ProviderState(VERSION, JSON.writeValueAsString(this));
        } catch (JsonProcessingException e) {
            throw new DraException("Can't write the state of a claim", e);
        }
    }

    /**
     * Reads what was recorded.
     *
     * @param state nothing if no part was ever begun
     * @throws DraException if a newer driver wrote it, or it is damaged
     */
    static MigState read(@Nullable ProviderState state) {
        if (state == null) {
            return none();
        }
        if (state.version() != VERSION) {
            throw new DraException(
                    "The claim's state has version %d, and this driver knows version %d: a newer driver prepared it"
                            .formatted(state.version(), VERSION));
        }
        try {
            return JSON.readValue(state.json(), MigState.class);
        } catch (JsonProcessingException e) {
            throw new DraException("The claim's state can't be read: " + state.json(), e);
        }
    }
}
