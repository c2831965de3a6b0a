// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.nvidia.health.DeviceFaults;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.inventory.Offer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What ails GPUs, told of the devices that they are offered as. */
final class HealthOfDevices {

    /** So many looks may be missed before a report is no longer believed. */
    private static final int LOOKS = 3;

    private final DeviceFaults ailments;
    private final Duration valid;

    HealthOfDevices(DeviceFaults ailments, Duration interval) {
        this.ailments = ailments;
        this.valid = interval.multipliedBy(LOOKS);
    }

    /** The devices with the taints that they have to have. */
    Inventory tainted(NodeDevices devices) {
        return new Inventory(
                devices.inventory().pools().stream().map(pool -> tainted(pool, devices)).toList());
    }

    private Pool tainted(Pool pool, NodeDevices devices) {
        List<Device> tainted = new ArrayList<>();
        for (Device device : pool.devices()) {
            tainted.add(device.toBuilder().taints(ailments.taints(offer(device, devices))).build());
        }
        return new Pool(pool.name(), pool.placement(), tainted, pool.counterSets());
    }

    private static Offer offer(Device device, NodeDevices devices) {
        return devices.offer(device.name()).orElseThrow(); // each device was made with its offer
    }

    /**
     * What the kubelet is told.
     *
     * @param unread the UUIDs of GPUs of which nothing is known now
     */
    List<DeviceHealth> reports(NodeDevices devices, Set<String> unread) {
        List<DeviceHealth> reports = new ArrayList<>();
        for (Pool pool : devices.inventory().pools()) {
            for (Device device : pool.devices()) {
                Offer offer = offer(device, devices);
                String words = ailments.words(offer).orElse("");
                HealthState state = state(words, unread.contains(offer.gpu().uuid()));
                reports.add(new DeviceHealth(pool.name(), device.name(), state, words, valid));
            }
        }
        return reports;
    }

    private static HealthState state(String words, boolean isUnread) {
        if (!words.isEmpty()) {
            return HealthState.UNHEALTHY;
        }
        return isUnread ? HealthState.UNKNOWN : HealthState.HEALTHY;
    }
}
