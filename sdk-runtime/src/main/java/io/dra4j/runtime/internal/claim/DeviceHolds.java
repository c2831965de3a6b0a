// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.PrepareException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Knows which claim holds which device, and refuses a device that another claim holds.
 *
 * <p>The driver is the last line of defence against one device for two workloads. A device may be
 * held by several claims if the API says so: shares of it (each with a share id of its own), or
 * access for administration, which neither waits for other claims nor keeps them waiting.
 * Thread-safe.
 */
final class DeviceHolds {

    private final Map<Key, List<Hold>> holds = new HashMap<>(); // guarded by this

    /**
     * Holds devices for a claim, all or none; what the claim held before is given back.
     *
     * @throws PrepareException if another claim holds one of them
     */
    synchronized void hold(ClaimRef claim, List<HeldDevice> devices) {
        for (HeldDevice device : devices) {
            for (Hold hold : holds.getOrDefault(Key.of(device), List.of())) {
                if (!hold.claim.uid().equals(claim.uid()) && excludes(hold.device, device)) {
                    throw new PrepareException(
                            "device "
                                    + device.pool()
                                    + "/"
                                    + device.device()
                                    + " is held by claim "
                                    + hold.claim
                                    + "; it is free when that claim is unprepared");
                }
            }
        }
        release(claim.uid());
        restore(claim, devices);
    }

    /** Holds devices for a claim without asking: the journal says that it has them. */
    synchronized void restore(ClaimRef claim, List<HeldDevice> devices) {
        for (HeldDevice device : devices) {
            holds.computeIfAbsent(Key.of(device), key -> new ArrayList<>())
                    .add(new Hold(claim, device));
        }
    }

    /** Gives back all that a claim holds. */
    synchronized void release(String uid) {
        holds.values().forEach(held -> held.removeIf(hold -> hold.claim.uid().equals(uid)));
        holds.values().removeIf(List::isEmpty);
    }

    private static boolean excludes(HeldDevice held, HeldDevice wanted) {
        if (held.adminAccess() || wanted.adminAccess()) {
            return false;
        }
        return held.shareId() == null
                || wanted.shareId() == null
                || held.shareId().equals(wanted.shareId());
    }

    private record Key(PoolName pool, DeviceName device) {
        static Key of(HeldDevice device) {
            return new Key(device.pool(), device.device());
        }
    }

    private record Hold(ClaimRef claim, HeldDevice device) {}
}
