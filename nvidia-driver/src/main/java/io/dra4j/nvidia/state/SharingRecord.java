// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.state;

import io.dra4j.api.claim.ProviderState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The sharing of a claim's devices by one configuration, recorded before it is applied.
 *
 * @param group the configuration, unique within the claim
 * @param targets the UUIDs of the GPUs and MIG devices that it changes, and has not released
 * @param state the strategy's state, in its own format; null if it needs none
 */
public record SharingRecord(
        String group,
        String strategy,
        List<String> targets,
        @Nullable ProviderState state) {

    public SharingRecord {
        targets = List.copyOf(targets);
    }

    public SharingRecord without(String released) {
        return new SharingRecord(
                group,
                strategy,
                targets.stream().filter(target -> !target.equals(released)).toList(),
                state);
    }
}
