// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.api.device.Taint.Effect;
import java.time.Duration;

/**
 * The handling of device faults.
 *
 * @param fabric the effect on GPUs whose NVLink fabric is not up
 * @param destroyUnknown whether GPU instances without a claim are destroyed after the start
 * @param rescanInterval the interval at which the GPUs are read even without an event
 * @param stateFile the file that preserves device faults across a restart
 */
public record HealthPolicy(
        ErrorWatch watch,
        XidEffects effects,
        Effect fabric,
        Thresholds thresholds,
        boolean destroyUnknown,
        Duration rescanInterval,
        HealthStateFile stateFile) {

    /** When the driver waits for errors of GPUs, which requires an open NVML session. */
    public enum ErrorWatch {
        /**
         * While a claim holds a GPU, or with on-demand MIG devices: the GPUs of an idle node can be reset, and its
         * driver updated.
         */
        auto,
        always,
        /** Never: only the loss of a GPU is noticed, at the next reading. */
        never
    }
}
