// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.jna.DeviceCalls;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The handles of GPUs by their UUIDs, for as long as NVML is open: to ask it for one takes seconds
 * on a busy node.
 */
final class Handles {

    private final DeviceCalls devices;
    private final Map<String, Long> known = new ConcurrentHashMap<>();

    Handles(DeviceCalls devices) {
        this.devices = devices;
    }

    long of(String uuid) {
        return known.computeIfAbsent(uuid, devices::withUuid);
    }

    void know(String uuid, long handle) {
        known.put(uuid, handle);
    }
}
