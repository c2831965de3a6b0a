// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A GPU's place in an NVLink fabric, which the fabric manager sets up.
 *
 * @param clusterUuid the UUID of the cluster, lower case, with dashes; null if NVLink connects only the GPUs of one
 * node
 * @param cliqueId the clique of GPUs that access one another's memory
 * @param state an {@code nvmlGpuFabricState_t}; 0 means no fabric
 * @param status an {@code nvmlReturn_t}, valid once the state is completed
 */
public record Fabric(@Nullable String clusterUuid, int cliqueId, int state, int status) {

    private static final List<String> STATES = List.of("none", "not-started", "in-progress", "completed");
    private static final int COMPLETED = 3;

    public boolean complete() {
        return state == COMPLETED && status == 0;
    }

    /** Returns the state as the value of a taint: {@code in-progress}. */
    public String title() {
        if (state == COMPLETED && status != 0) {
            return "failed-" + Integer.toUnsignedString(status);
        }
        return state < STATES.size() ? STATES.get(state) : "state-" + state;
    }
}
