// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import java.time.Duration;
import java.util.List;

/**
 * The handling of device faults.
 *
 * @param watch when the driver waits for errors
 * @param ignoredXids errors after which devices may be used, besides those of applications
 * @param destroyUnknown whether GPU instances without a claim are destroyed after the start
 * @param rescanInterval the interval between readings of the GPUs without an event
 * @param stateFile the file that keeps device faults over a restart
 */
public record HealthPolicy(
        HealthWatch watch,
        List<Long> ignoredXids,
        boolean destroyUnknown,
        Duration rescanInterval,
        HealthStateFile stateFile) {

    /** Copies the list. */
    public HealthPolicy {
        ignoredXids = List.copyOf(ignoredXids);
    }
}
