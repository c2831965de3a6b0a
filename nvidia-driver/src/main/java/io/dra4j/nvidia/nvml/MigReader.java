// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlLibrary.INVALID_ARGUMENT;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_FOUND;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_SUPPORTED;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NO_PERMISSION;
import static io.dra4j.nvidia.nvml.NvmlLibrary.SUCCESS;
import static io.dra4j.nvidia.nvml.NvmlLibrary.UNSUPPORTED;

import io.dra4j.nvidia.nvml.InstanceReader.Found;
import io.dra4j.nvidia.nvml.NvmlProblem.Cost;
import io.dra4j.nvidia.nvml.jna.Structs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads the MIG mode of GPUs, with possible and existing MIG devices. */
final class MigReader {

    private static final int MOST_DEVICES = 256;

    /** Returned for an index without a MIG device. */
    private static final Set<Integer> NONE = Set.of(NOT_FOUND, INVALID_ARGUMENT);

    private final NvmlLibrary nvml;
    final InstanceReader instances;

    MigReader(NvmlLibrary nvml) {
        this.nvml = nvml;
        instances = new InstanceReader(nvml);
    }

    private record Mode(boolean current, boolean pending) {}

    /** Returns the MIG mode; null if the GPU has none. */
    private @Nullable Mode mode(long gpu) {
        int[] current = new int[1];
        int[] pending = new int[1];
        String function = "nvmlDeviceGetMigMode";
        int code = nvml.call(function, gpu, current, pending);
        if (UNSUPPORTED.contains(code)) {
            requireUndivided(gpu, function, code);
            return null;
        }
        nvml.check(function, code);
        return new Mode(current[0] != 0, pending[0] != 0);
    }

    /** For a GPU without MIG mode, NVML reports that it can have no MIG devices. */
    private void requireUndivided(long gpu, String function, int code) {
        int[] most = new int[1];
        int other = nvml.call("nvmlDeviceGetMaxMigDeviceCount", gpu, most);
        if (other == SUCCESS && most[0] > 0) {
            throw new NvmlCallException(
                    function, code, "Not Supported, but it can have %d MIG devices".formatted(most[0]));
        }
    }

    boolean isEnabled(long gpu) {
        Mode mode = mode(gpu);
        return mode != null && mode.current();
    }

    /** Returns all existing GPU instances, including foreign ones; none outside MIG mode. */
    List<GpuInstance> instances(long gpu) {
        if (!isEnabled(gpu)) {
            return List.of();
        }
        List<GpuInstance> all = new ArrayList<>();
        for (MigProfile profile : instances.profilesWithoutPlacements(gpu)) {
            for (long handle : handles(gpu, profile)) {
                instances.read(handle).map(Found::instance).ifPresent(all::add);
            }
        }
        return all;
    }

    /** MIG mode may be switched off meanwhile; then no instances exist. */
    private List<Long> handles(long gpu, MigProfile profile) {
        try {
            return instances.handles(gpu, profile.id());
        } catch (NvmlCallException e) {
            if (e.code() == NOT_SUPPORTED && !isEnabled(gpu)) {
                return List.of();
            }
            throw e;
        }
    }

    /**
     * Reads MIG mode and devices; unreadable parts are returned as last read, or left out.
     *
     * @param needsReset whether a switch of the mode turned out to need a reset
     * @param unplaced MIG devices without their placements are added to it
     * @return null if the GPU has no MIG mode
     * @throws NvmlCallException if the mode is unknown, the GPU is lost, or the session has ended
     */
    @Nullable
    Mig read(long gpu, boolean needsReset, @Nullable Mig before, Problems problems, List<UnplacedMigDevice> unplaced) {
        Mode mode = mode(gpu);
        if (mode == null) {
            return null;
        }
        List<MigProfile> all = instances.profiles(gpu, mode.current(), before, problems);
        List<MigDevice> devices = mode.current() ? new Devices(gpu, before, problems).read(all, unplaced) : List.of();
        return new Mig(mode.current(), mode.pending(), all, devices, needsReset);
    }

    private final class Devices {
        private final long gpu;
        private final @Nullable Mig before;
        private final Problems problems;
        private final List<MigDevice> found = new ArrayList<>();
        private final Map<Integer, String> failed = new LinkedHashMap<>(); // reasons by profile

        Devices(long gpu, @Nullable Mig before, Problems problems) {
            this.gpu = gpu;
            this.before = before;
            this.problems = problems;
        }

        List<MigDevice> read(List<MigProfile> all, List<UnplacedMigDevice> unplaced) {
            for (MigProfile profile : all) {
                try {
                    for (long handle : handles(gpu, profile)) {
                        read(handle, profile);
                    }
                } catch (NvmlCallException e) {
                    if (e.code() == NO_PERMISSION
                            && (before == null || before.devices().isEmpty())) {
                        readUnprivileged(gpu, problems, unplaced);
                        return List.of();
                    }
                    failed.put(profile.id(), Problems.Parts.reason(e));
                }
            }
            addLast();
            return found;
        }

        private void read(long handle, MigProfile profile) {
            try {
                instances.read(handle).ifPresent(one -> add(one, profile));
            } catch (NvmlCallException e) {
                failed.put(profile.id(), Problems.Parts.reason(e));
            }
        }

        /** A name identifies only the GPU instance, so its compute instance must fill it. */
        private void add(Found one, MigProfile profile) {
            List<MigDevice> devices = one.instance().devices();
            if (devices.size() == 1 && one.largest() >= profile.slices()) {
                found.add(devices.get(0));
            } else {
                problems.part(
                        Cost.INSTANCE,
                        "GPU instance " + one.instance().id(),
                        shape(devices, one.largest(), profile.slices()));
            }
        }

        private static String shape(List<MigDevice> devices, int largest, int slices) {
            if (devices.isEmpty()) {
                return "it has no compute instance";
            }
            String uuids = devices.stream().map(MigDevice::uuid).collect(Collectors.joining(", "));
            return devices.size() == 1
                    ? "its compute instance, %s, has %d of its %d compute slices; only one that has all is published"
                            .formatted(uuids, largest, slices)
                    : "it has %d compute instances (%s); only a single one that has all compute slices is published"
                            .formatted(devices.size(), uuids);
        }

        /** The devices that can't be read now may be the MIG devices of a profile as last read. */
        private void addLast() {
            Problems.Parts unread = new Problems.Parts(Cost.INSTANCE, "GPU instances of MIG profiles");
            failed.forEach((profile, reason) -> {
                List<MigDevice> last = last(profile);
                found.addAll(last);
                unread.add(profile, reason, !last.isEmpty());
            });
            unread.addTo(problems);
        }

        private List<MigDevice> last(int profileId) {
            return before == null
                    ? List.of()
                    : before.devices().stream()
                            .filter(device -> device.profileId() == profileId)
                            .filter(device -> found.stream().noneMatch(device::hasPlaceOf))
                            .toList();
        }
    }

    /**
     * Reads the MIG devices by the calls that need no privileges; those that can't be read are problems.
     *
     * @throws NvmlCallException if the GPU is lost, or the session has ended
     */
    private void readUnprivileged(long gpu, Problems problems, List<UnplacedMigDevice> found) {
        Problems.Parts unread = new Problems.Parts(Cost.INSTANCE, "MIG devices of NVML's indices");
        try {
            int most = most(gpu);
            for (int i = 0; i < most; i++) {
                int index = i;
                UnplacedMigDevice device = unread.read(index, () -> device(problems.gpu(), gpu, index), null);
                if (device != null) {
                    found.add(device);
                }
            }
        } catch (NvmlCallException e) {
            problems.part(Cost.INSTANCE, "MIG devices", Problems.Parts.reason(e));
        }
        unread.addTo(problems);
    }

    private int most(long gpu) {
        String function = "nvmlDeviceGetMaxMigDeviceCount";
        int most = nvml.number(function, gpu);
        if (most < 0 || most > MOST_DEVICES) {
            throw NvmlCallException.invalid(function, most);
        }
        return most;
    }

    private @Nullable UnplacedMigDevice device(String uuid, long gpu, int index) {
        OptionalLong handle = nvml.amount(NONE, "nvmlDeviceGetMigDeviceHandleByIndex", gpu, index);
        if (handle.isEmpty()) {
            return null;
        }
        long device = handle.getAsLong();
        Structs.DeviceAttributes attributes = new Structs.DeviceAttributes();
        nvml.require("nvmlDeviceGetAttributes_v2", device, attributes);
        return new UnplacedMigDevice(
                uuid,
                nvml.text("nvmlDeviceGetUUID", device),
                nvml.number("nvmlDeviceGetGpuInstanceId", device),
                nvml.number("nvmlDeviceGetComputeInstanceId", device),
                attributes.gpuInstanceSliceCount,
                attributes.computeInstanceSliceCount,
                attributes.memorySizeMB,
                attributes.multiprocessorCount);
    }
}
