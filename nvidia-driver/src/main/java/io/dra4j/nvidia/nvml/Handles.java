// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The handles of GPUs by their UUIDs, while a session is open: a lookup takes seconds on a busy node. */
final class Handles {

    private final NvmlLibrary nvml;
    private final Map<String, Long> known = new ConcurrentHashMap<>();

    Handles(NvmlLibrary nvml) {
        this.nvml = nvml;
    }

    /** Returns a handle; a lookup that hangs does not block others. */
    long of(String uuid) {
        Long handle = known.get(uuid);
        if (handle == null) {
            handle = nvml.handle("nvmlDeviceGetHandleByUUID", uuid);
            known.put(uuid, handle);
        }
        return handle;
    }

    /** Looks up a handle again: the handle of a MIG device is stale once the device was recreated. */
    long again(String uuid) {
        known.remove(uuid);
        return of(uuid);
    }

    void know(String uuid, long handle) {
        known.put(uuid, handle);
    }
}
