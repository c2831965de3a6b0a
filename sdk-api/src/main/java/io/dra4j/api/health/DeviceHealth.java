// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.health;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import java.time.Duration;
import java.util.Objects;

/**
 * The health of one device, and how long the report is valid.
 *
 * <p>The runtime repeats the report to the kubelet while it is valid and then stops, so that the devices of a driver
 * that hangs become unknown.
 *
 * @param pool the device's pool
 * @param device the device
 * @param state whether it works
 * @param message what a user should know, at most 1024 bytes; may be empty
 * @param validFor how long the report is valid, from the moment it is made; positive
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/4680-add-resource-health-to-pod-status">
 *     KEP-4680</a>
 */
public record DeviceHealth(PoolName pool, DeviceName device, HealthState state, String message, Duration validFor) {

    /**
     * Checks the duration.
     *
     * @throws IllegalArgumentException if the duration is not positive
     */
    public DeviceHealth {
        Objects.requireNonNull(pool, "pool");
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(state, "state");
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(validFor, "validFor");
        if (validFor.isNegative() || validFor.isZero()) {
            throw new IllegalArgumentException(
                    "Health of " + pool + "/" + device + " must be valid for some time, not " + validFor);
        }
    }
}
