// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.HeldDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BiPredicate;

/**
 * The devices that a claim may hold whose record is damaged: all that are known.
 *
 * <p>Its last intact record may be older than what the claim held last, its object in the API may
 * be newer, and its CDI spec does not name pools: a device too many is refused to others rather
 * than one too few. Pure.
 */
public final class DamagedDevices {

    private DamagedDevices() {}

    /**
     * Returns all devices, each share once.
     *
     * @param allocated the devices by the API
     * @param recorded the devices of the last intact record
     * @param named the devices of the CDI spec, which does not show admin access
     */
    public static List<HeldDevice> all(
            List<HeldDevice> allocated, List<HeldDevice> recorded, List<HeldDevice> named) {
        List<HeldDevice> all = new ArrayList<>(allocated);
        add(
                recorded,
                all,
                (one, other) ->
                        isSameShare(one, other) && one.adminAccess() == other.adminAccess());
        add(named, all, DamagedDevices::isSameShare);
        return List.copyOf(all);
    }

    private static void add(
            List<HeldDevice> more,
            List<HeldDevice> all,
            BiPredicate<HeldDevice, HeldDevice> isSame) {
        for (HeldDevice device : more) {
            if (all.stream().noneMatch(known -> isSame.test(known, device))) {
                all.add(device);
            }
        }
    }

    private static boolean isSameShare(HeldDevice one, HeldDevice other) {
        return DeviceKey.of(one).equals(DeviceKey.of(other))
                && Objects.equals(one.shareId(), other.shareId());
    }
}
