// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.NvmlException.Reason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Reads the GPUs of a node: one that can't be read now is as last read, and hides no other. */
final class NodeReader {

    private final NvmlLibrary nvml;
    private final GpuReader reader;
    private final Handles handles;
    private final Known known;

    NodeReader(Session session, Known known) {
        this.nvml = session.library;
        this.reader = session.reader;
        this.handles = session.handles;
        this.known = known;
    }

    /** The GPUs as last read, also in earlier sessions. */
    static final class Known {
        private final Map<Integer, Gpu> byIndex = new ConcurrentHashMap<>(); // NVML's index
        private volatile List<Gpu> recalled = List.of();

        /** Sets the GPUs that an earlier process read: a lost GPU can't be identified by itself. */
        void recall(List<Gpu> gpus) {
            recalled = List.copyOf(gpus);
        }
    }

    /** The result of a reading. */
    static final class Found {
        final List<Gpu> gpus = new ArrayList<>();
        final Set<String> lost = new HashSet<>();
        final Set<String> unread = new HashSet<>();
        final List<String> problems = new ArrayList<>();
        private final List<Gpu> kept = new ArrayList<>();
        private final List<String> nameless = new ArrayList<>();

        private boolean has(Gpu gpu) {
            return gpus.stream().anyMatch(other -> other.uuid().equals(gpu.uuid()));
        }
    }

    /**
     * Reads all GPUs.
     *
     * @throws NvmlCallException if NVML does not return their number
     */
    Found read() {
        Found found = new Found();
        int count = nvml.number("nvmlDeviceGetCount_v2");
        for (int index = 0; index < count; index++) {
            try {
                long handle = nvml.handle("nvmlDeviceGetHandleByIndex_v2", index);
                Gpu gpu = reader.read(handle);
                handles.know(gpu.uuid(), handle);
                known.byIndex.put(index, gpu);
                found.gpus.add(gpu);
            } catch (NvmlCallException e) {
                if (Session.isEndedBy(e)) {
                    throw e;
                }
                boolean isLost = Reason.of(e.code()) == Reason.GPU_LOST;
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
        Gpu before = known.byIndex.get(index);
        if (before != null) {
            found.kept.add(before);
            if (isLost) {
                found.lost.add(before.uuid());
            } else {
                found.unread.add(before.uuid());
                found.problems.add(
                        "%s can't be read, and is kept as last read: %s"
                                .formatted(before.uuid(), why));
            }
        } else {
            (isLost ? found.nameless : found.problems)
                    .add("GPU %d is left out: %s".formatted(index, why));
        }
    }

    /** Indices change when a GPU is removed: none may be returned twice. */
    private void addUnread(Found found) {
        found.kept.stream().filter(gpu -> !found.has(gpu)).forEach(found.gpus::add);
        List<Gpu> missing = known.recalled.stream().filter(gpu -> !found.has(gpu)).toList();
        if (missing.size() == found.nameless.size()) {
            found.gpus.addAll(missing);
            missing.forEach(gpu -> found.lost.add(gpu.uuid()));
        } else {
            found.problems.addAll(found.nameless);
        }
    }
}
