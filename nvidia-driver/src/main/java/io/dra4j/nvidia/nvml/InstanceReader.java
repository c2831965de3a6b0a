// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_SUPPORTED;

import io.dra4j.nvidia.nvml.jna.Structs;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * Reads existing GPU instances, and the compute instances in them. One that is destroyed while all
 * are read is not there.
 */
final class InstanceReader {

    private static final int COMPUTE_PROFILES = 9;
    private static final int MOST_INSTANCES = 64; // no board has more than 8

    /** Returned for a handle whose instance was destroyed. */
    static final Set<Integer> STALE = Set.of(NvmlLibrary.INVALID_ARGUMENT, NvmlLibrary.NOT_FOUND);

    private final NvmlLibrary nvml;

    InstanceReader(NvmlLibrary nvml) {
        this.nvml = nvml;
    }

    /**
     * A GPU instance.
     *
     * @param instance the instance with all its compute instances
     * @param largest the compute slices of its largest compute instance; 0 if there is none
     */
    record Found(GpuInstance instance, int largest) {}

    /** A profile of compute instances. */
    record ComputeProfile(int id, int slices) {}

    private record Compute(MigDevice device, int slices) {}

    /** Returns the handles of the GPU instances of a profile. */
    List<Long> handles(long gpu, int profileId) {
        return handles("nvmlDeviceGetGpuInstances", gpu, profileId);
    }

    private List<Long> handles(String function, long of, int profileId) {
        long[] found = new long[MOST_INSTANCES];
        int[] count = {found.length};
        nvml.require(function, of, profileId, found, count);
        if (count[0] < 0 || count[0] > found.length) {
            throw NvmlCallException.invalid(function, count[0]);
        }
        return LongStream.of(found).limit(count[0]).boxed().toList();
    }

    /** Reads a GPU instance; empty if it was destroyed. */
    Optional<Found> read(long handle) {
        Structs.GpuInstanceInfo info = new Structs.GpuInstanceInfo();
        if (!nvml.succeeds(STALE, "nvmlGpuInstanceGetInfo", handle, info)) {
            return Optional.empty();
        }
        Placement placement = ProfileReader.placement(info.placement);
        Map<Integer, Compute> computes = new LinkedHashMap<>(); // by number
        List<ComputeProfile> profiles = computeProfiles(handle);
        for (ComputeProfile profile : profiles) {
            boolean isRequired = profile == profiles.get(0);
            for (long compute : computes(handle, profile, isRequired)) {
                device(info, placement, compute)
                        .map(device -> new Compute(device, profile.slices()))
                        .ifPresent(it -> computes.put(it.device().computeInstance(), it));
            }
        }
        List<MigDevice> devices =
                computes.values().stream().map(Compute::device).toList();
        int largest = computes.values().stream().mapToInt(Compute::slices).max().orElse(0);
        return Optional.of(new Found(new GpuInstance(info.id, info.profileId, placement, devices), largest));
    }

    /** Some boards report a profile that they do not support, but not as their first. */
    private List<Long> computes(long instance, ComputeProfile profile, boolean isRequired) {
        try {
            return handles("nvmlGpuInstanceGetComputeInstances", instance, profile.id());
        } catch (NvmlCallException e) {
            if (e.code() == NOT_SUPPORTED && !isRequired || STALE.contains(e.code())) {
                return List.of();
            }
            throw e;
        }
    }

    private Optional<MigDevice> device(Structs.GpuInstanceInfo in, Placement placement, long compute) {
        Structs.ComputeInstanceInfo info = new Structs.ComputeInstanceInfo();
        if (!nvml.succeeds(STALE, "nvmlComputeInstanceGetInfo_v2", compute, info)) {
            return Optional.empty();
        }
        return Optional.of(
                new MigDevice(nvml.text("nvmlDeviceGetUUID", info.device), in.id, info.id, in.profileId, placement));
    }

    /** Returns the profiles of compute instances that a GPU instance can have. */
    List<ComputeProfile> computeProfiles(long instance) {
        List<ComputeProfile> profiles = new ArrayList<>();
        String function = "nvmlGpuInstanceGetComputeInstanceProfileInfo";
        for (int index = 0; index < COMPUTE_PROFILES; index++) {
            Structs.ComputeInstanceProfile p = new Structs.ComputeInstanceProfile();
            if (nvml.succeeds(ProfileReader.NO_SUCH_PROFILE, function, instance, index, 0, p)) {
                profiles.add(new ComputeProfile(p.id, p.sliceCount));
            }
        }
        if (profiles.isEmpty()) {
            throw new NvmlCallException(
                    function, NOT_SUPPORTED, "the GPU instance has no profile of compute instances");
        }
        return profiles;
    }
}
