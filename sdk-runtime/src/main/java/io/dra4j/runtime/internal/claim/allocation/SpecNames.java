// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads from the names in a CDI spec which devices a claim may hold: {@code <uid>-<device>[-<share
 * id>]}.
 *
 * <p>A name does not contain the pool, and it may be read in two ways: then all that fit are taken,
 * for a device too many is refused to others rather than one too few.
 */
public final class SpecNames {

    private static final Pattern REST = Pattern.compile("(?:-([0-9a-f-]{36}))?(?:\\.[0-9]+)?");

    private SpecNames() {}

    public static List<HeldDevice> devices(String uid, List<String> names, Inventory inventory) {
        List<HeldDevice> devices = new ArrayList<>();
        for (Pool pool : inventory.pools()) {
            for (Device device : pool.devices()) {
                String start = uid + "-" + device.name();
                for (String name : names) {
                    if (name.startsWith(start)) {
                        Matcher rest = REST.matcher(name.substring(start.length()));
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
        return new HeldDevice(
                "unknown", null, pool.name(), device.name(), shareId, Map.of(), false);
    }
}
