// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.rules.OwnNames;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.allocation.Budget.Amount;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The capacities and counters of the inventory's devices, and of those that left it while held.
 *
 * <p>The last that was seen of such a device is remembered; after a restart that is forgotten, and
 * it takes nothing. An object is immutable.
 */
final class KnownDevices {

    private final OwnNames names;
    private final Inventory inventory;
    private final Map<DeviceKey, Device> devices;

    private KnownDevices(OwnNames names, Inventory inventory, Map<DeviceKey, Device> devices) {
        this.names = names;
        this.inventory = inventory;
        this.devices = devices;
    }

    /** Returns what is known of a driver's devices before there is an inventory: nothing. */
    static KnownDevices none(String driver) {
        return new KnownDevices(new OwnNames(driver), Inventory.of(), Map.of());
    }

    /** Returns what is known with a later inventory; this object, if it is the same. */
    KnownDevices with(Inventory later, Collection<ClaimRecord> committed) {
        if (later == inventory) {
            return this;
        }
        Set<DeviceKey> held = new HashSet<>();
        committed.forEach(claim -> claim.devices().forEach(one -> held.add(DeviceKey.of(one))));
        Map<DeviceKey, Device> known = new HashMap<>(devices);
        known.keySet().retainAll(held);
        for (Pool pool : later.pools()) {
            for (Device device : pool.devices()) {
                known.put(new DeviceKey(pool.name(), device.name()), device);
            }
        }
        return new KnownDevices(names, later, known);
    }

    /** Returns whether devices of a pool may overlap. */
    boolean hasCounters(DeviceKey key) {
        return inventory
                .pool(key.pool())
                .filter(p -> !p.counterSets().isEmpty())
                .isPresent();
    }

    /** Returns what a device takes of the counters of its pool. */
    List<Amount> counters(DeviceKey key) {
        List<Amount> amounts = new ArrayList<>();
        Device device = devices.get(key);
        if (device == null) {
            return amounts;
        }
        for (CounterConsumption set : device.consumesCounters()) {
            set.counters().forEach((name, amount) -> amounts.add(counter(key, set.counterSet(), name, amount)));
        }
        return amounts;
    }

    private Amount counter(DeviceKey key, String set, String name, Quantity amount) {
        Quantity total = inventory.pool(key.pool()).stream()
                .flatMap(pool -> pool.counterSets().stream())
                .filter(candidate -> candidate.name().equals(set))
                .map(CounterSet::counters)
                .map(counters -> counters.get(name))
                .findFirst()
                .orElse(null);
        return new Amount("counter " + name + " in counter set " + set + " of pool " + key.pool(), amount, total);
    }

    /** Returns what a share takes of the capacities of its device. */
    List<Amount> shares(HeldDevice share) {
        DeviceKey key = DeviceKey.of(share);
        Device device = devices.get(key);
        return share.consumedCapacity().entrySet().stream()
                .map(one -> new Amount(
                        "capacity " + names.bare(one.getKey()) + " of device " + key,
                        one.getValue(),
                        capacity(device, one.getKey())))
                .toList();
    }

    private @Nullable Quantity capacity(@Nullable Device device, String name) {
        return device == null
                ? null
                : names.find(device.capacities(), name).map(Capacity::value).orElse(null);
    }
}
