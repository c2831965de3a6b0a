// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

/**
 * A choice for nodes on which a device plugin offers the devices of the driver, too.
 *
 * <p>Neither the kubelet nor the scheduler knows that these are the same devices: each is given to two pods at a time.
 */
public enum LegacyPlugin {
    /** The devices are published; the log and an Event on the Node say that they are at risk. */
    WARN,
    /** No device is published until the Node has none of the plugin's resources any more. */
    WITHHOLD
}
