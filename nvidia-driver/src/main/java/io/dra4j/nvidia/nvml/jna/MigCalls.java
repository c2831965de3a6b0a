// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml.jna;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * GPU instances and compute instances: what a board can have, what there is, and how they come and
 * go.
 *
 * <p>NVML has two numbers for a profile: an index, by which its information is read, and an id of
 * the hardware, by which everything else is asked for.
 */
public final class MigCalls {

    private static final int INVALID_ARGUMENT = 2;
    private static final int NOT_SUPPORTED = 3;
    private static final int NO_PERMISSION = 4;
    private static final int NOT_FOUND = 6;
    private static final int MOST_PLACEMENTS = 64; // no board has more than 8

    /** Indices that a driver may not know yet, or the board not have. */
    private static final Set<Integer> NO_SUCH_PROFILE =
            Set.of(INVALID_ARGUMENT, NOT_SUPPORTED, NvmlLibrary.FUNCTION_NOT_FOUND);

    private final NvmlLibrary nvml;

    /** The calls of a library. */
    public MigCalls(NvmlLibrary nvml) {
        this.nvml = nvml;
    }

    /**
     * Whether a GPU is divided.
     *
     * @param current whether it is now
     * @param pending whether it is after the next reset
     */
    public record Mode(boolean current, boolean pending) {}

    /** The MIG mode; empty if the GPU has none. */
    public Optional<Mode> mode(long gpu) {
        IntByReference current = new IntByReference();
        IntByReference pending = new IntByReference();
        String function = "nvmlDeviceGetMigMode";
        int code = nvml.call(function, NvmlLibrary.pointer(gpu), current, pending);
        if (code == NOT_SUPPORTED || code == NvmlLibrary.FUNCTION_NOT_FOUND) {
            return Optional.empty();
        }
        nvml.check(function, code);
        return Optional.of(new Mode(current.getValue() != 0, pending.getValue() != 0));
    }

    /** Asks for a mode; returns what kept it from coming into force now, 0 for nothing. */
    public int setMode(long gpu, boolean divided) {
        return nvml.number("nvmlDeviceSetMigMode", NvmlLibrary.pointer(gpu), divided ? 1 : 0);
    }

    /**
     * A profile of GPU instances, or of compute instances.
     *
     * @param id the hardware's number of it
     * @param slices the compute slices
     * @param instances how many there can be at a time
     * @param multiprocessors the streaming multiprocessors
     * @param copyEngines the copy engines
     * @param decoders the video decoders
     * @param encoders the video encoders
     * @param jpegs the JPEG engines
     * @param ofas the optical flow engines
     * @param memoryMiB the memory; 0 for a compute instance, which has none of its own
     */
    public record Profile(
            int id,
            int slices,
            int instances,
            int multiprocessors,
            int copyEngines,
            int decoders,
            int encoders,
            int jpegs,
            int ofas,
            long memoryMiB) {}

    /** The profile of an index; empty if the board has none, or the driver does not know it. */
    public Optional<Profile> profile(long gpu, int index) {
        Structs.GpuInstanceProfile p = new Structs.GpuInstanceProfile();
        String function = "nvmlDeviceGetGpuInstanceProfileInfo";
        int code = nvml.call(function, NvmlLibrary.pointer(gpu), index, p);
        if (NO_SUCH_PROFILE.contains(code)) {
            return Optional.empty();
        }
        nvml.check(function, code);
        return Optional.of(
                new Profile(
                        p.id,
                        p.sliceCount,
                        p.instanceCount,
                        p.multiprocessorCount,
                        p.copyEngineCount,
                        p.decoderCount,
                        p.encoderCount,
                        p.jpegCount,
                        p.ofaCount,
                        p.memorySizeMB));
    }

    /**
     * A place of an instance on its GPU, in memory slices.
     *
     * @param start the first
     * @param size how many
     */
    public record Placement(int start, int size) {}

    /**
     * Where instances of a profile can be, in NVML's order, whatever is there now.
     *
     * @return nothing, too, for a process that may not make instances
     */
    public List<Placement> placements(long gpu, int profileId) {
        String function = "nvmlDeviceGetGpuInstancePossiblePlacements_v2";
        Pointer handle = NvmlLibrary.pointer(gpu);
        IntByReference count = new IntByReference();
        int code = nvml.call(function, handle, profileId, Pointer.NULL, count);
        if (code == NO_PERMISSION) {
            return List.of();
        }
        nvml.check(function, code);
        int room = Math.min(count.getValue(), MOST_PLACEMENTS);
        if (room <= 0) {
            return List.of();
        }
        Structs.PlacementStruct[] all =
                (Structs.PlacementStruct[]) new Structs.PlacementStruct().toArray(room);
        nvml.require(function, handle, profileId, all, count);
        List<Placement> placements = new ArrayList<>();
        for (int i = 0; i < Math.min(all.length, count.getValue()); i++) {
            placements.add(new Placement(all[i].start, all[i].size));
        }
        return placements;
    }

    /** Makes a GPU instance; its handle. */
    public long create(long gpu, int profileId, Placement placement) {
        return nvml.handle(
                "nvmlDeviceCreateGpuInstanceWithPlacement",
                NvmlLibrary.pointer(gpu),
                profileId,
                new Structs.PlacementStruct(placement.start(), placement.size()));
    }

    /** Destroys a GPU instance that has no compute instance. */
    public void destroy(long instance) {
        nvml.require("nvmlGpuInstanceDestroy", NvmlLibrary.pointer(instance));
    }

    /** The GPU instances of a profile; none if the GPU is not divided, or is not any more. */
    public List<Long> instances(long gpu, int profileId, int most) {
        return handles("nvmlDeviceGetGpuInstances", gpu, profileId, most);
    }

    /** The compute instances of a profile. */
    public List<Long> computes(long instance, int profileId, int most) {
        return handles("nvmlGpuInstanceGetComputeInstances", instance, profileId, most);
    }

    private List<Long> handles(String function, long of, int profileId, int most) {
        Pointer[] found = new Pointer[Math.max(1, most)];
        IntByReference count = new IntByReference(found.length);
        int code = nvml.call(function, NvmlLibrary.pointer(of), profileId, found, count);
        if (code == NOT_SUPPORTED) {
            return List.of();
        }
        nvml.check(function, code);
        List<Long> handles = new ArrayList<>();
        for (int i = 0; i < Math.min(found.length, count.getValue()); i++) {
            handles.add(Pointer.nativeValue(found[i]));
        }
        return handles;
    }

    /** The GPU instance that has a number now, which may have been another's before. */
    public OptionalLong instance(long gpu, int id) {
        return found("nvmlDeviceGetGpuInstanceById", gpu, id);
    }

    /** The compute instance that has a number now. */
    public OptionalLong compute(long instance, int id) {
        return found("nvmlGpuInstanceGetComputeInstanceById", instance, id);
    }

    private OptionalLong found(String function, long of, int id) {
        PointerByReference handle = new PointerByReference();
        int code = nvml.call(function, NvmlLibrary.pointer(of), id, handle);
        if (code == NOT_FOUND || code == NOT_SUPPORTED) {
            return OptionalLong.empty(); // the latter says that the GPU is not divided
        }
        nvml.check(function, code);
        return OptionalLong.of(Pointer.nativeValue(handle.getValue()));
    }

    /**
     * An instance that is there.
     *
     * @param id its number, which the next one may get
     * @param profileId the hardware's number of its profile
     * @param placement where it is
     * @param device the handle of its MIG device, for a compute instance; 0 for a GPU instance
     */
    public record Instance(int id, int profileId, Placement placement, long device) {}

    /** What a GPU instance is. */
    public Instance describe(long instance) {
        Structs.GpuInstanceInfo info = new Structs.GpuInstanceInfo();
        nvml.require("nvmlGpuInstanceGetInfo", NvmlLibrary.pointer(instance), info);
        return new Instance(info.id, info.profileId, placement(info.placement), 0);
    }

    /** What a compute instance is. */
    public Instance describeCompute(long compute) {
        Structs.ComputeInstanceInfo info = new Structs.ComputeInstanceInfo();
        nvml.require("nvmlComputeInstanceGetInfo_v2", NvmlLibrary.pointer(compute), info);
        return new Instance(
                info.id,
                info.profileId,
                placement(info.placement),
                Pointer.nativeValue(info.device));
    }

    private static Placement placement(Structs.PlacementStruct struct) {
        return new Placement(struct.start, struct.size);
    }

    /** The profile of an index for compute instances in a GPU instance; empty if it has none. */
    public Optional<Profile> computeProfile(long instance, int index) {
        Structs.ComputeInstanceProfile p = new Structs.ComputeInstanceProfile();
        String function = "nvmlGpuInstanceGetComputeInstanceProfileInfo";
        int code = nvml.call(function, NvmlLibrary.pointer(instance), index, 0, p);
        if (NO_SUCH_PROFILE.contains(code)) {
            return Optional.empty();
        }
        nvml.check(function, code);
        return Optional.of(
                new Profile(
                        p.id,
                        p.sliceCount,
                        p.instanceCount,
                        p.multiprocessorCount,
                        p.sharedCopyEngineCount,
                        p.sharedDecoderCount,
                        p.sharedEncoderCount,
                        p.sharedJpegCount,
                        p.sharedOfaCount,
                        0));
    }

    /** Makes a compute instance; its handle. */
    public long createCompute(long instance, int profileId) {
        return nvml.handle(
                "nvmlGpuInstanceCreateComputeInstance", NvmlLibrary.pointer(instance), profileId);
    }

    /** Destroys a compute instance. */
    public void destroyCompute(long compute) {
        nvml.require("nvmlComputeInstanceDestroy", NvmlLibrary.pointer(compute));
    }
}
