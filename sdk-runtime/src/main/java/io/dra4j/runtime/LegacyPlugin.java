// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

/**
 * The driver's behaviour on nodes where a device plugin also offers its devices.
 *
 * <p>Neither the kubelet nor the scheduler knows that these are the same devices: two pods can get the same device.
 */
public enum LegacyPlugin {
    /** The devices are published; the log and an Event on the Node say that they are at risk. */
    WARN,
    /** No device is published until the Node no longer has any of the plugin's resources. */
    WITHHOLD
}
