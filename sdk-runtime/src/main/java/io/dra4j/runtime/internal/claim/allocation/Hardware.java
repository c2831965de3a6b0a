// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.pins.DevicePins;
import io.dra4j.runtime.internal.pins.PooledDevice;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Refuses a device whose name refers to different hardware than the claim was allocated.
 *
 * <p>Names may move: minor numbers and list positions may differ after a reboot. A device without a physical id, now or
 * then, is not compared: unknown does not mean different.
 */
public final class Hardware {

    private Hardware() {}

    /** Returns a device of a claim with the physical id of the inventory's device. */
    static HeldDevice identified(HeldDevice held, Optional<Device> device) {
        return device.map(Device::physicalId)
                .map(id -> held.toBuilder().physicalId(id).build())
                .orElse(held);
    }

    /**
     * Requires that devices are the same hardware as when they were recorded; devices that left the inventory are
     * skipped.
     *
     * @param inventory is not called if no device has a physical id
     * @throws PrepareException if one is different hardware now
     */
    public static void requireSame(List<HeldDevice> recorded, Supplier<Inventory> inventory) {
        List<HeldDevice> known =
                recorded.stream().filter(device -> device.physicalId() != null).toList();
        if (known.isEmpty()) {
            return;
        }
        Inventory now = inventory.get();
        for (HeldDevice device : known) {
            now.device(device.pool(), device.device())
                    .map(Device::physicalId)
                    .filter(id -> !id.equals(device.physicalId()))
                    .ifPresent(id -> refuse(PooledDevice.of(device), device.physicalId(), id));
        }
    }

    /**
     * Requires that devices are the hardware that their names were published for.
     *
     * @throws PrepareException if one is different hardware now
     */
    public static void requirePinned(AllocatedClaim claim, DevicePins pins) {
        for (AllocatedDevice device : claim.devices()) {
            String now = device.held().physicalId();
            if (now != null) {
                pins.read()
                        .id(device.pool(), device.device())
                        .filter(id -> !id.equals(now))
                        .ifPresent(id -> refuse(PooledDevice.of(device.held()), id, now));
            }
        }
    }

    private static void refuse(PooledDevice device, String before, String now) {
        throw new PrepareException(("device %s is not the hardware that the claim was allocated: it was %s, and since a"
                        + " restart the name refers to %s; delete the pod and the claim, so that"
                        + " the claim is allocated again")
                .formatted(device, before, now));
    }
}
