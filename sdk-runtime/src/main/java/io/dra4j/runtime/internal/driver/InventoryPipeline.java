// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.policy.DevicePolicies;
import io.dra4j.runtime.internal.publish.SlicePublisher;

/**
 * The pipeline of the inventory from the provider to the slices: each stage gets the previous one's result.
 *
 * <p>{@link SlicePublisher} reads it when the provider reports a change, and applies the other stages each time it
 * writes, so that {@link SlicePublisher#taintsChanged} needs no read of the hardware. The publisher adds the last
 * stages: names that refer to other hardware are withheld, then devices that the API server would refuse, and the rest
 * is planned as slices.
 */
record InventoryPipeline(RunningHealth health, DevicePolicies policies, LegacyPluginWatch legacyPlugin) {

    Inventory changed(Inventory read) {
        Inventory byHealth = health.taint(read);
        Inventory byAdmins = policies.apply(byHealth); // by the policy's file, then by `maintenance`
        return legacyPlugin.apply(byAdmins);
    }

    /** Changes a device as it is stored in the cluster, until an inventory has been read. */
    Device changedStored(Device stored) {
        return policies.applyToStored(stored);
    }
}
