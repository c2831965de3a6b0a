// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.health;

/**
 * Whether a device works.
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
    /** Nobody can tell. */
    UNKNOWN
}
