// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlLibrary.INVALID_ARGUMENT;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_FOUND;
import static io.dra4j.nvidia.nvml.NvmlLibrary.pointer;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import io.dra4j.nvidia.nvml.Problem.Cost;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the MIG devices of a GPU by the calls that need no privileges. */
final class UnprivilegedMigReader {

    private static final int MOST_DEVICES = 256;

    /** Returned for an index without a MIG device. */
    private static final Set<Integer> NONE = Set.of(NOT_FOUND, INVALID_ARGUMENT);

    private final NvmlLibrary nvml;

    UnprivilegedMigReader(NvmlLibrary nvml) {
        this.nvml = nvml;
    }

    /**
     * Reads the MIG devices; those that can't be read are problems.
     *
     * @param found is given the devices
     * @throws NvmlCallException if the GPU is lost, or the session has ended
     */
    void read(long gpu, Problems problems, List<UnplacedMigDevice> found) {
        PartProblems unread = new PartProblems(Cost.INSTANCE, "MIG devices of NVML's indices");
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
            problems.part(Cost.INSTANCE, "MIG devices", PartProblems.reason(e));
        }
        unread.addTo(problems);
    }

    private int most(long gpu) {
        String function = "nvmlDeviceGetMaxMigDeviceCount";
        int most = nvml.number(function, pointer(gpu));
        if (most < 0 || most > MOST_DEVICES) {
            throw NvmlCallException.invalid(function, most);
        }
        return most;
    }

    private @Nullable UnplacedMigDevice device(String uuid, long gpu, int index) {
        PointerByReference handle = new PointerByReference();
        if (!nvml.succeeds(NONE, "nvmlDeviceGetMigDeviceHandleByIndex", pointer(gpu), index, handle)) {
            return null;
        }
        Pointer device = handle.getValue();
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
