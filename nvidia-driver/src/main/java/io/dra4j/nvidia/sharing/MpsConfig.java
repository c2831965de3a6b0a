// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.device.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The settings of MPS.
 *
 * @param defaultActiveThreadPercentage the percentage of threads that a client may use
 * @param defaultPinnedDeviceMemoryLimit the limit for each device
 * @param defaultPerDevicePinnedMemoryLimit the limits for some devices, by UUID or position
 */
public record MpsConfig(
        @Nullable Integer defaultActiveThreadPercentage,
        @Nullable Quantity defaultPinnedDeviceMemoryLimit,
        @Nullable Map<String, Quantity> defaultPerDevicePinnedMemoryLimit,
        @Nullable Boolean multiUser) {

    static final MpsConfig EMPTY = new MpsConfig(null, null, null, null);

    private static final int WHOLE = 100;
    private static final Quantity LEAST = new Quantity("1Mi");
    private static final Pattern POSITION = Pattern.compile("0|[1-9][0-9]{0,3}");
    private static final Pattern UUID = Pattern.compile("(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    List<String> problems() {
        List<String> problems = new ArrayList<>();
        Integer percentage = defaultActiveThreadPercentage;
        if (percentage != null && percentage < 0) {
            problems.add("active thread percentage must not be negative");
        }
        if (percentage != null && percentage > WHOLE) {
            problems.add("active thread percentage must not be greater than 100");
        }
        if (defaultPinnedDeviceMemoryLimit != null) {
            problems.addAll(tooLow("defaultPinnedDeviceMemoryLimit", defaultPinnedDeviceMemoryLimit));
        }
        if (defaultPerDevicePinnedMemoryLimit != null) {
            new TreeMap<>(defaultPerDevicePinnedMemoryLimit)
                    .forEach((device, limit) -> problems.addAll(ofDevice(device, limit)));
        }
        return problems;
    }

    private static List<String> ofDevice(String device, @Nullable Quantity limit) {
        String field = "defaultPerDevicePinnedMemoryLimit[" + device + "]";
        if (!POSITION.matcher(device).matches() && !UUID.matcher(device).matches()) {
            return List.of(
                    "%s: invalid device: it must be the UUID of a device, or its position from 0".formatted(field));
        }
        return limit == null ? List.of(field + ": a limit is missing, for instance 1Gi") : tooLow(field, limit);
    }

    private static List<String> tooLow(String field, Quantity limit) {
        return limit.compareTo(LEAST) < 0
                ? List.of("%s: invalid limit: value set too low: %s; it must be at least 1Mi".formatted(field, limit))
                : List.of();
    }
}
