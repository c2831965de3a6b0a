// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.nvml.jna.DeviceCalls;
import io.dra4j.nvidia.nvml.jna.NvmlCallException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Reads the GPUs of a node, and remembers them: one that can't be read now is as it was last known,
 * and hides no other.
 */
final class NodeReader {

    private final DeviceCalls devices;
    private final GpuReader reader;
    private final Handles handles;
    private final Map<Integer, Gpu> lastKnown = new ConcurrentHashMap<>(); // by NVML's index
    private volatile List<Gpu> recalled = List.of();

    NodeReader(DeviceCalls devices, GpuReader reader, Handles handles) {
        this.devices = devices;
        this.reader = reader;
        this.handles = handles;
    }

    /** Takes GPUs for known that somebody read before: one that is lost can't say who it is. */
    void recall(List<Gpu> gpus) {
        recalled = List.copyOf(gpus);
    }

    /** What came of reading. */
    static final class Found {
        final List<Gpu> gpus = new ArrayList<>();
        final Set<String> lost = new HashSet<>();
        final Set<String> unread = new HashSet<>();
        final List<String> troubles = new ArrayList<>();
        private final List<Gpu> kept = new ArrayList<>();
        private final List<String> nameless = new ArrayList<>();

        private boolean has(Gpu gpu) {
            return gpus.stream().anyMatch(other -> other.uuid().equals(gpu.uuid()));
        }
    }

    /**
     * Reads all.
     *
     * @throws NvmlCallException if NVML does not say how many there are
     */
    Found read() {
        Found found = new Found();
        int count = devices.count();
        for (int index = 0; index < count; index++) {
            try {
                long handle = devices.at(index);
                Gpu gpu = reader.read(handle);
                handles.know(gpu.uuid(), handle);
                lastKnown.put(index, gpu);
                found.gpus.add(gpu);
            } catch (NvmlCallException e) {
                boolean isLost = Translation.reason(e.code()) == Reason.GPU_LOST;
                unread(index, found, isLost, e.getMessage());
            } catch (IllegalArgumentException e) { // no address, for instance
                unread(index, found, false, e.getMessage());
            }
        }
        addUnread(found);
        found.gpus.sort(Comparator.comparing(Gpu::pci));
        return found;
    }

    private void unread(int index, Found found, boolean isLost, String why) {
        Gpu known = lastKnown.get(index);
        if (known != null) {
            found.kept.add(known);
            if (isLost) {
                found.lost.add(known.uuid());
            } else {
                found.unread.add(known.uuid());
                found.troubles.add(
                        "%s can't be read, and is as it was: %s".formatted(known.uuid(), why));
            }
        } else {
            (isLost ? found.nameless : found.troubles)
                    .add("GPU %d is left out: %s".formatted(index, why));
        }
    }

    /** The indices of GPUs change when one is pulled out: none may be there twice. */
    private void addUnread(Found found) {
        found.kept.stream().filter(gpu -> !found.has(gpu)).forEach(found.gpus::add);
        List<Gpu> missing = recalled.stream().filter(gpu -> !found.has(gpu)).toList();
        if (missing.size() == found.nameless.size()) {
            found.gpus.addAll(missing);
            missing.forEach(gpu -> found.lost.add(gpu.uuid()));
        } else {
            found.troubles.addAll(found.nameless);
        }
    }
}
