// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.health;

/**
 * The health of a device.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/4680-add-resource-health-to-pod-status">
 *     KEP-4680</a>
 */
public enum HealthState {
    /** The device works. */
    HEALTHY,
    /** The device does not work. */
    UNHEALTHY,
    /** It is unknown whether the device works. */
    UNKNOWN
}
