// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.GpuReader.Identity;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.nvml.NvmlProblem.Cost;
import io.dra4j.nvidia.nvml.Session.Handles;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Reads the GPUs of a node: one that can't be read is returned as last read, and does not affect others. */
final class NodeReader {

    private static final int MOST_GPUS = 1024;

    private final NvmlLibrary nvml;
    private final GpuReader reader;
    private final Handles handles;
    private final Known known;
    private final List<Gpu> gpus = new ArrayList<>();
    private final Set<String> lost = new HashSet<>();
    private final Set<String> unread = new HashSet<>();
    private final List<UnplacedMigDevice> unplaced = new ArrayList<>();
    private final List<NvmlProblem> problems = new ArrayList<>();
    private final Problems ofNode = new Problems("", problems);
    private final List<Unread> kept = new ArrayList<>();
    private final List<NvmlProblem> nameless = new ArrayList<>();

    NodeReader(Session session, Known known) {
        this.nvml = session.library;
        this.reader = session.reader;
        this.handles = session.handles;
        this.known = known;
    }

    /** The node as last read, including by earlier sessions. */
    static final class Known {
        private final Map<String, Gpu> byUuid = new ConcurrentHashMap<>();
        private final Map<Integer, String> uuids = new ConcurrentHashMap<>(); // by NVML's index, which may change
        private volatile List<Gpu> recalled = List.of();

        /** The UUIDs of GPUs for which a switch of the MIG mode turned out to need a reset. */
        final Set<String> modeNeedsReset = ConcurrentHashMap.newKeySet();

        private volatile @Nullable String driverVersion;
        private volatile @Nullable String cudaVersion;

        void recall(List<Gpu> gpus, Set<PciAddress> away) {
            gpus.forEach(gpu -> byUuid.put(gpu.uuid(), gpu));
            recalled = gpus.stream().filter(gpu -> !away.contains(gpu.pci())).toList();
            recalled.stream()
                    .filter(gpu -> gpu.mig() != null && gpu.mig().modeNeedsReset())
                    .forEach(gpu -> modeNeedsReset.add(gpu.uuid()));
        }

        private void add(int index, Gpu gpu) {
            byUuid.put(gpu.uuid(), gpu);
            byUuid.values()
                    .removeIf(old ->
                            old.pci().compareTo(gpu.pci()) == 0 && !old.uuid().equals(gpu.uuid())); // replaced
            uuids.values().remove(gpu.uuid()); // its previous index may belong to another GPU now
            uuids.put(index, gpu.uuid());
        }

        private @Nullable Gpu at(int index) {
            String uuid = uuids.get(index);
            return uuid == null ? null : byUuid.get(uuid);
        }

        List<Gpu> gpus() {
            return List.copyOf(byUuid.values());
        }
    }

    /**
     * Reads all GPUs.
     *
     * @throws NvmlCallException if NVML does not return their number, or the driver's version, or the session has ended
     */
    Reading read() {
        String function = "nvmlDeviceGetCount_v2";
        int count = nvml.number(function);
        if (count < 0 || count > MOST_GPUS) {
            throw NvmlCallException.invalid(function, count);
        }
        for (int index = 0; index < count; index++) {
            read(index);
        }
        addUnread();
        known.modeNeedsReset.removeIf(uuid -> lost.contains(uuid) || !has(uuid)); // a reset brings it back
        gpus.sort(Comparator.comparing(Gpu::pci));
        return new Reading(driverVersion(), cudaVersion(), gpus, lost, unread, unplaced, problems);
    }

    private void read(int index) {
        try {
            long handle = nvml.handle("nvmlDeviceGetHandleByIndex_v2", index);
            String uuid = reader.uuid(handle);
            if (has(uuid)) {
                throw NvmlCallException.invalid("nvmlDeviceGetUUID", uuid + " a second time");
            }
            read(index, handle, uuid);
        } catch (NvmlCallException e) {
            unread("GPU " + index, known.at(index), e);
        }
    }

    private void read(int index, long handle, String uuid) {
        Gpu before = known.byUuid.get(uuid);
        List<NvmlProblem> found = new ArrayList<>();
        List<UnplacedMigDevice> devices = new ArrayList<>();
        try {
            Identity id = reader.identity(handle, uuid);
            boolean needsReset = known.modeNeedsReset.contains(uuid);
            Gpu gpu = reader.read(handle, id, needsReset, before, new Problems(uuid, found), devices);
            handles.know(uuid, handle);
            known.add(index, gpu);
            gpus.add(gpu);
            problems.addAll(found);
            unplaced.addAll(devices);
        } catch (NvmlCallException e) {
            unread(uuid, before, e);
        }
    }

    private void unread(String name, @Nullable Gpu before, NvmlCallException e) {
        if (e.endsSession()) {
            throw e;
        }
        boolean isLost = Reason.of(e.code()) == Reason.GPU_LOST;
        if (before == null) {
            boolean isNameless = isLost && !name.startsWith("GPU-");
            (isNameless ? nameless : problems).add(new NvmlProblem("", Cost.GPU, name, String.valueOf(e.getMessage())));
            return;
        }
        kept.add(new Unread(name, before, e));
    }

    /** A GPU that was read before, and could not be read at its index. */
    private record Unread(String name, Gpu before, NvmlCallException failure) {}

    private boolean has(String uuid) {
        return gpus.stream().anyMatch(gpu -> gpu.uuid().equals(uuid));
    }

    /** Indices change when a GPU is removed: no GPU may be returned twice. */
    private void addUnread() {
        for (Unread one : kept) {
            String uuid = one.before.uuid();
            if (has(uuid)) { // under another index: it is another one that can't be read
                unread(one.name, null, one.failure);
                continue;
            }
            gpus.add(one.before);
            boolean isLost = Reason.of(one.failure.code()) == Reason.GPU_LOST;
            (isLost ? lost : unread).add(uuid);
            if (!isLost) {
                String reason = one.failure.getMessage() + "; as last read";
                problems.add(new NvmlProblem(uuid, Cost.NONE, uuid, reason));
            }
        }
        List<Gpu> missing =
                known.recalled.stream().filter(gpu -> !has(gpu.uuid())).toList();
        if (missing.size() == nameless.size()) {
            gpus.addAll(missing);
            missing.forEach(gpu -> lost.add(gpu.uuid()));
        } else {
            problems.addAll(nameless);
        }
    }

    private String driverVersion() {
        String function = "nvmlSystemGetDriverVersion";
        String before = known.driverVersion;
        String version = before == null
                ? nvml.text(function)
                : ofNode.attribute("driverVersion", () -> nvml.text(function), before);
        known.driverVersion = version;
        return Objects.requireNonNull(version);
    }

    private @Nullable String cudaVersion() {
        String version = ofNode.attribute("cudaDriverVersion", this::cuda, known.cudaVersion);
        known.cudaVersion = version;
        return version;
    }

    private String cuda() {
        String function = "nvmlSystemGetCudaDriverVersion_v2";
        int version = nvml.number(function);
        if (version <= 0) {
            throw NvmlCallException.invalid(function, version);
        }
        return version / 1000 + "." + version % 1000 / 10;
    }
}
