// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The handles of GPUs by their UUIDs, for as long as a session is open: a look-up takes seconds on
 * a busy node.
 */
final class Handles {

    private final NvmlLibrary nvml;
    private final Map<String, Long> known = new ConcurrentHashMap<>();

    Handles(NvmlLibrary nvml) {
        this.nvml = nvml;
    }

    long of(String uuid) {
        return known.computeIfAbsent(uuid, key -> nvml.handle("nvmlDeviceGetHandleByUUID", key));
    }

    void know(String uuid, long handle) {
        known.put(uuid, handle);
    }
}
