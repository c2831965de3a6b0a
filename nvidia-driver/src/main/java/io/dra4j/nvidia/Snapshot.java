// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.nvml.Reading;

/**
 * A reading of an installed driver, and its devices.
 *
 * @param installed the driver's fingerprint
 * @param reading what NVML reports
 * @param devices the devices of it
 */
record Snapshot(String installed, Reading reading, NodeDevices devices) {

    static final Snapshot NONE = new Snapshot("", Reading.NOTHING, NodeDevices.NONE);
}
