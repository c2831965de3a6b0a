// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_FOUND;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_SUPPORTED;
import static io.dra4j.nvidia.nvml.NvmlLibrary.RESET_REQUIRED;

import io.dra4j.nvidia.nvml.InstanceReader.ComputeProfile;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.nvml.jna.Structs;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongConsumer;

/** Changes the MIG mode of GPUs, their GPU instances, and the compute instances in those. */
final class MigInstances {

    private final NvmlLibrary nvml;
    final MigReader reader;
    private final InstanceReader instances;

    MigInstances(NvmlLibrary nvml) {
        this.nvml = nvml;
        reader = new MigReader(nvml);
        instances = reader.instances;
    }

    /** Requests a mode; returns the code that keeps it from taking effect now, 0 for none. */
    int setMode(long gpu, boolean enabled) {
        int[] status = new int[1];
        String function = "nvmlDeviceSetMigMode";
        int code = nvml.call(function, gpu, enabled ? 1 : 0, status);
        if (code == RESET_REQUIRED) {
            return code;
        }
        nvml.check(function, code);
        return status[0];
    }

    long create(long gpu, int profileId, InstancePlacement at) {
        return nvml.handle(
                "nvmlDeviceCreateGpuInstanceWithPlacement",
                gpu,
                profileId,
                new Structs.PlacementStruct(at.start(), at.size()));
    }

    long handle(long gpu, int instance) {
        return nvml.handle("nvmlDeviceGetGpuInstanceById", gpu, instance);
    }

    long computeHandle(long gpu, MigDevice device) {
        return nvml.handle(
                "nvmlGpuInstanceGetComputeInstanceById", handle(gpu, device.gpuInstance()), device.computeInstance());
    }

    /** Returns the number of a new GPU instance; one that can't be identified is destroyed. */
    int number(long instance) {
        Structs.GpuInstanceInfo info = new Structs.GpuInstanceInfo();
        try {
            nvml.require("nvmlGpuInstanceGetInfo", instance, info);
            return info.id;
        } catch (NvmlCallException e) {
            nvml.call("nvmlGpuInstanceDestroy", instance); // its failure adds nothing
            throw e;
        }
    }

    /** Returns whether the GPU instance of a handle exists, and not another one with its number. */
    boolean exists(long instance) {
        return nvml.succeeds(InstanceReader.STALE, "nvmlGpuInstanceGetInfo", instance, new Structs.GpuInstanceInfo());
    }

    boolean hasComputes(long instance) {
        return instances
                .read(instance)
                .map(found -> !found.instance().devices().isEmpty())
                .orElse(false);
    }

    boolean computeExists(long compute) {
        return nvml.succeeds(
                InstanceReader.STALE, "nvmlComputeInstanceGetInfo_v2", compute, new Structs.ComputeInstanceInfo());
    }

    /**
     * Creates a compute instance that fills its GPU instance.
     *
     * @param created receives its handle
     */
    MigDevice createCompute(String gpu, long handle, int number, LongConsumer created) {
        long instance = find(handle, number).orElseThrow(() -> absent(gpu, number, "it no longer exists"));
        long made = createCompute(gpu, number, instance);
        created.accept(made);
        Structs.ComputeInstanceInfo info = new Structs.ComputeInstanceInfo();
        nvml.require("nvmlComputeInstanceGetInfo_v2", made, info);
        return instances.read(instance).stream()
                .flatMap(found -> found.instance().devices().stream())
                .filter(device -> device.computeInstance() == info.id)
                .findFirst()
                .orElseThrow(() -> absent(gpu, number, "its compute instance is gone again"));
    }

    /**
     * Tries the largest profiles in NVML's order: seven slices have two profiles, and most boards support one but
     * report both.
     */
    private long createCompute(String gpu, int number, long instance) {
        List<ComputeProfile> all = instances.computeProfiles(instance);
        int most = all.stream().mapToInt(ComputeProfile::slices).max().orElse(0);
        NvmlCallException refused = null;
        for (ComputeProfile profile : all) {
            if (profile.slices() == most) {
                try {
                    String function = "nvmlGpuInstanceCreateComputeInstance";
                    return nvml.handle(function, instance, profile.id());
                } catch (NvmlCallException e) {
                    if (e.code() != NOT_SUPPORTED) {
                        throw e;
                    }
                    refused = e;
                }
            }
        }
        throw refused != null
                ? refused
                : absent(gpu, number, "it has no profile of compute instances as large as itself");
    }

    private static NvmlException absent(String gpu, int instance, String reason) {
        return new NvmlException(
                Reason.NOT_FOUND,
                "No compute instance in GPU instance %d of %s: %s".formatted(instance, gpu, reason),
                null);
    }

    /** Destroys a compute instance, if it exists. */
    void destroyCompute(long gpu, int instance, int compute) {
        find(gpu, instance).stream()
                .flatMap(in -> find("nvmlGpuInstanceGetComputeInstanceById", in, compute).stream())
                .forEach(each -> nvml.require("nvmlComputeInstanceDestroy", each));
    }

    /** Destroys a GPU instance without compute instances, if it exists, and returns its handle. */
    OptionalLong destroy(long gpu, int instance) {
        OptionalLong found = find(gpu, instance);
        found.ifPresent(each -> nvml.require("nvmlGpuInstanceDestroy", each));
        return found;
    }

    /** Returns the GPU instance that has a number now; earlier, another one may have had it. */
    private OptionalLong find(long gpu, int number) {
        return reader.isEnabled(gpu) ? find("nvmlDeviceGetGpuInstanceById", gpu, number) : OptionalLong.empty();
    }

    private OptionalLong find(String function, long of, int number) {
        return nvml.amount(Set.of(NOT_FOUND), function, of, number);
    }
}
