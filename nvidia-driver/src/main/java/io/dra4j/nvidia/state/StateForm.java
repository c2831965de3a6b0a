// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.state;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A claim's state as JSON.
 *
 * @param mig the MIG devices; null if there were none
 * @param sharing the sharing, in the order in which it was begun
 * @param lent the GPUs that were taken from NVIDIA's driver; null if there were none
 */
record StateForm(
        @Nullable Part mig, List<Shared> sharing, @Nullable Part lent) {

    private static final JsonMapper JSON = new JsonMapper();

    /** A part with a version of its own. */
    record Part(int version, JsonNode state) {

        static @Nullable Part of(@Nullable ProviderState state) {
            try {
                return state == null ? null : new Part(state.version(), JSON.readTree(state.rawJson()));
            } catch (JsonProcessingException e) {
                throw new DraException("A part of a claim's state is not JSON: " + state, e);
            }
        }

        ProviderState toState() {
            return new ProviderState(version, state.toString());
        }
    }

    /** The sharing by one configuration. */
    record Shared(
            String group,
            String strategy,
            List<String> targets,
            @Nullable Part state) {

        static Shared of(SharingRecord one) {
            return new Shared(one.group(), one.strategy(), one.targets(), Part.of(one.state()));
        }

        SharingRecord toRecord() {
            return new SharingRecord(group, strategy, targets, state == null ? null : state.toState());
        }
    }
}
