// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.policy.DevicePolicies;
import io.dra4j.runtime.internal.publish.SlicePublisher;

/**
 * The inventory on its way from the provider to the slices: a stage gets what the one before it returns.
 *
 * <p>{@link SlicePublisher} reads it when the provider has changed, and applies the other stages each time it writes, so
 * that {@link SlicePublisher#taintsChanged} needs no read of the hardware. The stages after these are its own: names that
 * mean other hardware are withheld, then devices that the API server would refuse, and the rest is planned as slices.
 */
record InventoryPipeline(
        SuspendableProvider provider, RunningHealth health, DevicePolicies policies, LegacyPluginWatch legacyPlugin) {

    Inventory read() throws Exception {
        return provider.inventory();
    }

    Inventory changed(Inventory read) {
        Inventory byHealth = health.taint(read);
        Inventory byAdmins = policies.apply(byHealth); // by the policy's file, then by `maintenance`
        return legacyPlugin.apply(byAdmins);
    }

    /** Changes a device as the cluster has it, as long as none could be read. */
    Device changedStored(Device stored) {
        return policies.applyToStored(stored);
    }
}
