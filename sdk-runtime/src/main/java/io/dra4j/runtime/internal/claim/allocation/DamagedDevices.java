// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BiPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The devices that a claim may hold whose record is damaged: all that are known.
 *
 * <p>Its last intact record may be older than what the claim held last, its object in the API may be newer, and its CDI
 * spec does not name pools: a device too many is refused to others rather than one too few. Pure.
 */
public final class DamagedDevices {

    private static final Pattern SUFFIX = Pattern.compile("(?:-([0-9a-f-]{36}))?(?:\\.[0-9]+)?");

    private DamagedDevices() {}

    /**
     * Returns all devices, each share once.
     *
     * @param allocated the devices by the API
     * @param recorded the devices of the last intact record
     * @param named the devices of the CDI spec, which does not show admin access
     */
    public static List<HeldDevice> all(List<HeldDevice> allocated, List<HeldDevice> recorded, List<HeldDevice> named) {
        List<HeldDevice> all = new ArrayList<>();
        allocated.forEach(device -> all.add(identified(device, recorded)));
        add(recorded, all, DamagedDevices::isSameUse);
        add(named, all, DamagedDevices::isSameShare);
        return List.copyOf(all);
    }

    /** The API does not have the physical id that the record has. */
    private static HeldDevice identified(HeldDevice device, List<HeldDevice> recorded) {
        return recorded.stream()
                .filter(known -> isSameUse(known, device))
                .findFirst()
                .map(known -> device.toBuilder().physicalId(known.physicalId()).build())
                .orElse(device);
    }

    private static boolean isSameUse(HeldDevice one, HeldDevice other) {
        return isSameShare(one, other) && one.adminAccess() == other.adminAccess();
    }

    private static void add(List<HeldDevice> more, List<HeldDevice> all, BiPredicate<HeldDevice, HeldDevice> isSame) {
        for (HeldDevice device : more) {
            if (all.stream().noneMatch(known -> isSame.test(known, device))) {
                all.add(device);
            }
        }
    }

    private static boolean isSameShare(HeldDevice one, HeldDevice other) {
        return DeviceKey.of(one).equals(DeviceKey.of(other)) && Objects.equals(one.shareId(), other.shareId());
    }

    /**
     * Returns the devices that the names in a CDI spec may mean: {@code <uid>-<device>[-<share id>]}.
     *
     * <p>A name does not contain the pool, and it may be read in two ways: then all that fit are taken, for a device
     * too many is refused to others rather than one too few.
     */
    public static List<HeldDevice> named(String uid, List<String> names, Inventory inventory) {
        List<HeldDevice> devices = new ArrayList<>();
        for (Pool pool : inventory.pools()) {
            for (Device device : pool.devices()) {
                String start = uid + "-" + device.name();
                for (String name : names) {
                    if (name.startsWith(start)) {
                        Matcher rest = SUFFIX.matcher(name.substring(start.length()));
                        if (rest.matches()) {
                            devices.add(held(pool, device, rest.group(1)));
                        }
                    }
                }
            }
        }
        return devices;
    }

    private static HeldDevice held(Pool pool, Device device, @Nullable String shareId) {
        return HeldDevice.builder("unknown", pool.name(), device.name())
                .shareId(shareId)
                .build();
    }
}
