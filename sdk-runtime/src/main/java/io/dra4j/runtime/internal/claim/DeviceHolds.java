// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.PrepareException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Knows which claim holds which device, and refuses a device that another claim holds.
 *
 * <p>The driver is the last line of defence against one device for two workloads. A device may be
 * held by several claims if the API says so: shares of it (each with a share id of its own), or
 * access for administration, which neither waits for other claims nor keeps them waiting. Devices
 * that overlap, as the pool's counters say, may not be held together. What a held device takes of
 * counters is looked up in the inventory, and remembered should the device leave it; after a
 * restart that is forgotten, and a held device that the inventory does not have any more takes
 * nothing. Thread-safe.
 */
final class DeviceHolds {

    // Guarded by this: who holds what, and what of counters that takes.
    private final Map<Key, List<Hold>> holds = new HashMap<>();
    private final Map<Key, List<CounterConsumption>> consumptions = new HashMap<>();

    /**
     * Holds devices for a claim, all or none; what the claim held before is given back.
     *
     * @param inventory tells what devices take of the counters of their pools
     * @throws PrepareException if another claim holds one of them, or one that overlaps with it
     */
    synchronized void hold(ClaimRef claim, List<HeldDevice> devices, Inventory inventory) {
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
        rememberConsumption(inventory);
        requireCounters(claim, devices, inventory);
        release(claim.uid());
        restore(claim, devices);
        rememberConsumption(inventory);
    }

    private void requireCounters(ClaimRef claim, List<HeldDevice> devices, Inventory inventory) {
        for (Pool pool : inventory.pools()) {
            Set<Key> wanted = new LinkedHashSet<>();
            devices.stream()
                    .filter(device -> device.pool().equals(pool.name()) && !device.adminAccess())
                    .forEach(device -> wanted.add(Key.of(device)));
            if (!pool.counterSets().isEmpty() && !wanted.isEmpty()) {
                CounterBudget budget = heldBudget(claim, pool, wanted);
                wanted.forEach(
                        key -> budget.take(claim, key.device.value(), consumption(inventory, key)));
            }
        }
    }

    /** Counts what other claims hold of a pool; a device that is wanted, too, is a shared one. */
    private CounterBudget heldBudget(ClaimRef claim, Pool pool, Set<Key> wanted) {
        CounterBudget budget = new CounterBudget(pool);
        holds.forEach(
                (key, held) -> {
                    List<ClaimRef> others =
                            held.stream()
                                    .filter(hold -> !hold.claim.uid().equals(claim.uid()))
                                    .filter(hold -> !hold.device.adminAccess())
                                    .map(Hold::claim)
                                    .toList();
                    if (key.pool.equals(pool.name())
                            && !wanted.contains(key)
                            && !others.isEmpty()) {
                        budget.held(others, consumptions.getOrDefault(key, List.of()));
                    }
                });
        return budget;
    }

    private void rememberConsumption(Inventory inventory) {
        for (Pool pool : inventory.pools()) {
            if (!pool.counterSets().isEmpty()) {
                for (Device device : pool.devices()) {
                    Key key = new Key(pool.name(), device.name());
                    if (holds.containsKey(key)) {
                        consumptions.put(key, device.consumesCounters());
                    }
                }
            }
        }
        consumptions.keySet().retainAll(holds.keySet());
    }

    private static List<CounterConsumption> consumption(Inventory inventory, Key key) {
        return inventory
                .device(key.pool, key.device)
                .map(Device::consumesCounters)
                .orElse(List.of());
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
