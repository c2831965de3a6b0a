// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlLibrary.FUNCTION_NOT_FOUND;
import static io.dra4j.nvidia.nvml.NvmlLibrary.INVALID_ARGUMENT;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_FOUND;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_SUPPORTED;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NO_PERMISSION;
import static io.dra4j.nvidia.nvml.NvmlLibrary.UNSUPPORTED;
import static io.dra4j.nvidia.nvml.NvmlLibrary.pointer;

import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import io.dra4j.nvidia.nvml.MigProfile.Engines;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The MIG mode of GPUs, their GPU instances, and the compute instances in those.
 *
 * <p>NVML has two numbers for a profile: an index, by which its information is read, and an id of
 * the hardware, by which everything else is requested. Profiles are always read from the board.
 */
final class MigInstances {

    /** Indices of profiles of GPU instances; drivers before R525 know ten of them. */
    private static final int PROFILES = 18;

    private static final int COMPUTE_PROFILES = 9;
    private static final int MOST_INSTANCES = 8;
    private static final int MOST_PLACEMENTS = 64; // no board has more than 8

    /** Returned for indices that the driver does not know yet, or the board does not have. */
    private static final Set<Integer> NO_SUCH_PROFILE =
            Set.of(INVALID_ARGUMENT, NOT_SUPPORTED, FUNCTION_NOT_FOUND);

    /** Returned for a handle whose instance was destroyed. */
    private static final Set<Integer> STALE = Set.of(INVALID_ARGUMENT, NOT_FOUND);

    private final NvmlLibrary nvml;

    MigInstances(NvmlLibrary nvml) {
        this.nvml = nvml;
    }

    private record Mode(boolean current, boolean pending) {}

    /** Returns the MIG mode; null if the GPU has none. */
    private @Nullable Mode mode(long gpu) {
        IntByReference current = new IntByReference();
        IntByReference pending = new IntByReference();
        return nvml.succeeds(UNSUPPORTED, "nvmlDeviceGetMigMode", pointer(gpu), current, pending)
                ? new Mode(current.getValue() != 0, pending.getValue() != 0)
                : null;
    }

    boolean isEnabled(long gpu) {
        Mode mode = mode(gpu);
        return mode != null && mode.current();
    }

    /** Requests a mode; returns the code that keeps it from taking effect now, 0 for none. */
    int setMode(long gpu, boolean enabled) {
        return nvml.number("nvmlDeviceSetMigMode", pointer(gpu), enabled ? 1 : 0);
    }

    @Nullable Mig read(long gpu) {
        Mode mode = mode(gpu);
        if (mode == null) {
            return null;
        }
        List<MigProfile> profiles = profiles(gpu);
        Stream<GpuInstance> found =
                mode.current() ? instances(gpu, profiles).stream() : Stream.of();
        return new Mig(
                mode.current(),
                mode.pending(),
                profiles,
                found.flatMap(instance -> instance.devices().stream()).toList());
    }

    private List<MigProfile> profiles(long gpu) {
        return IntStream.range(0, PROFILES)
                .mapToObj(index -> profile(gpu, index))
                .flatMap(Optional::stream)
                .toList();
    }

    private Optional<MigProfile> profile(long gpu, int index) {
        Structs.GpuInstanceProfile p = new Structs.GpuInstanceProfile();
        String function = "nvmlDeviceGetGpuInstanceProfileInfo";
        if (!nvml.succeeds(NO_SUCH_PROFILE, function, pointer(gpu), index, p)) {
            return Optional.empty();
        }
        Engines engines =
                new Engines(
                        p.multiprocessorCount,
                        p.copyEngineCount,
                        p.decoderCount,
                        p.encoderCount,
                        p.jpegCount,
                        p.ofaCount);
        return Optional.of(
                new MigProfile(
                        index,
                        p.id,
                        p.sliceCount,
                        p.instanceCount,
                        engines,
                        p.memorySizeMB,
                        placements(gpu, p.id)));
    }

    /**
     * Returns the possible placements of a profile in NVML's order, occupied or not; none for a
     * process that may not create instances.
     */
    private List<Placement> placements(long gpu, int profileId) {
        String function = "nvmlDeviceGetGpuInstancePossiblePlacements_v2";
        Pointer handle = pointer(gpu);
        IntByReference count = new IntByReference();
        Set<Integer> denied = Set.of(NO_PERMISSION);
        boolean isAllowed = nvml.succeeds(denied, function, handle, profileId, Pointer.NULL, count);
        int room = Math.min(count.getValue(), MOST_PLACEMENTS);
        if (!isAllowed || room <= 0) {
            return List.of();
        }
        Structs.PlacementStruct[] all =
                (Structs.PlacementStruct[]) new Structs.PlacementStruct().toArray(room);
        nvml.require(function, handle, profileId, all, count);
        return Stream.of(all).limit(count.getValue()).map(MigInstances::placement).toList();
    }

    private static Placement placement(Structs.PlacementStruct struct) {
        return new Placement(struct.start, struct.size);
    }

    /** Returns the existing GPU instances, including those of others; none outside MIG mode. */
    List<GpuInstance> instances(long gpu) {
        return isEnabled(gpu) ? instances(gpu, profiles(gpu)) : List.of();
    }

    private List<GpuInstance> instances(long gpu, List<MigProfile> profiles) {
        List<GpuInstance> found = new ArrayList<>();
        for (MigProfile profile : profiles) {
            for (long instance : handles("nvmlDeviceGetGpuInstances", gpu, profile.id())) {
                instanceIfPresent(instance).ifPresent(found::add);
            }
        }
        return found;
    }

    private List<Long> handles(String function, long of, int profileId) {
        Pointer[] found = new Pointer[MOST_INSTANCES];
        IntByReference count = new IntByReference(found.length);
        return nvml.succeeds(Set.of(NOT_SUPPORTED), function, pointer(of), profileId, found, count)
                ? Stream.of(found).limit(count.getValue()).map(Pointer::nativeValue).toList()
                : List.of();
    }

    /** An instance may be destroyed while all are read. */
    private Optional<GpuInstance> instanceIfPresent(long handle) {
        try {
            return Optional.of(instance(handle));
        } catch (NvmlCallException e) {
            if (e.code() == NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private Structs.GpuInstanceInfo info(long instance) {
        Structs.GpuInstanceInfo info = new Structs.GpuInstanceInfo();
        nvml.require("nvmlGpuInstanceGetInfo", pointer(instance), info);
        return info;
    }

    private GpuInstance instance(long handle) {
        Structs.GpuInstanceInfo info = info(handle);
        List<MigDevice> devices =
                computeProfiles(handle).stream()
                        .flatMap(profile -> computes(handle, profile.id()))
                        .map(compute -> device(info, compute))
                        .toList();
        return new GpuInstance(info.id, info.profileId, placement(info.placement), devices);
    }

    private Stream<Long> computes(long instance, int profileId) {
        return handles("nvmlGpuInstanceGetComputeInstances", instance, profileId).stream();
    }

    private MigDevice device(Structs.GpuInstanceInfo instance, long compute) {
        Structs.ComputeInstanceInfo info = computeInfo(compute);
        return new MigDevice(
                nvml.text("nvmlDeviceGetUUID", info.device),
                instance.id,
                info.id,
                instance.profileId,
                placement(instance.placement));
    }

    private Structs.ComputeInstanceInfo computeInfo(long compute) {
        Structs.ComputeInstanceInfo info = new Structs.ComputeInstanceInfo();
        nvml.require("nvmlComputeInstanceGetInfo_v2", pointer(compute), info);
        return info;
    }

    private record ComputeProfile(int id, int slices) {}

    /** Returns the profiles of compute instances that a GPU instance can have. */
    private List<ComputeProfile> computeProfiles(long instance) {
        List<ComputeProfile> profiles = new ArrayList<>();
        String function = "nvmlGpuInstanceGetComputeInstanceProfileInfo";
        for (int index = 0; index < COMPUTE_PROFILES; index++) {
            Structs.ComputeInstanceProfile p = new Structs.ComputeInstanceProfile();
            if (nvml.succeeds(NO_SUCH_PROFILE, function, pointer(instance), index, 0, p)) {
                profiles.add(new ComputeProfile(p.id, p.sliceCount));
            }
        }
        return profiles;
    }

    /** Creates a GPU instance and returns its handle. */
    long create(long gpu, int profileId, Placement at) {
        return nvml.handle(
                "nvmlDeviceCreateGpuInstanceWithPlacement",
                pointer(gpu),
                profileId,
                new Structs.PlacementStruct(at.start(), at.size()));
    }

    /** Returns the handle of an existing GPU instance. */
    long handle(long gpu, int instance) {
        return nvml.handle("nvmlDeviceGetGpuInstanceById", pointer(gpu), instance);
    }

    /** Returns the handle of an existing compute instance. */
    long computeHandle(long gpu, MigDevice device) {
        return nvml.handle(
                "nvmlGpuInstanceGetComputeInstanceById",
                pointer(handle(gpu, device.gpuInstance())),
                device.computeInstance());
    }

    /** Returns the number of a GPU instance. */
    int number(long instance) {
        return info(instance).id;
    }

    /** Returns whether the GPU instance of a handle exists, and not only another of its number. */
    boolean exists(long instance) {
        return nvml.succeeds(
                STALE, "nvmlGpuInstanceGetInfo", pointer(instance), new Structs.GpuInstanceInfo());
    }

    /** Returns whether the compute instance of a handle exists. */
    boolean computeExists(long compute) {
        return nvml.succeeds(
                STALE,
                "nvmlComputeInstanceGetInfo_v2",
                pointer(compute),
                new Structs.ComputeInstanceInfo());
    }

    /**
     * Creates a compute instance as large as its GPU instance.
     *
     * @param created is given its handle
     */
    MigDevice createCompute(String gpu, long handle, int number, LongConsumer created) {
        long instance =
                find(handle, number)
                        .orElseThrow(() -> absent(gpu, number, "it does not exist any more"));
        long made = createCompute(gpu, number, instance);
        created.accept(made);
        int compute = computeInfo(made).id;
        return instance(instance).devices().stream()
                .filter(device -> device.computeInstance() == compute)
                .findFirst()
                .orElseThrow(() -> absent(gpu, number, "its compute instance is gone again"));
    }

    /**
     * Tries the largest profiles in NVML's order: seven slices have two profiles, of which most
     * boards support only one but report both.
     */
    private long createCompute(String gpu, int number, long instance) {
        List<ComputeProfile> all = computeProfiles(instance);
        int most = all.stream().mapToInt(ComputeProfile::slices).max().orElse(0);
        NvmlCallException refused = null;
        for (ComputeProfile profile : all) {
            if (profile.slices() == most) {
                try {
                    String function = "nvmlGpuInstanceCreateComputeInstance";
                    return nvml.handle(function, pointer(instance), profile.id());
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
                .forEach(each -> nvml.require("nvmlComputeInstanceDestroy", pointer(each)));
    }

    /** Destroys a GPU instance without compute instances, if it exists. */
    void destroy(long gpu, int instance) {
        find(gpu, instance)
                .ifPresent(each -> nvml.require("nvmlGpuInstanceDestroy", pointer(each)));
    }

    /** Returns the GPU instance that has a number now, which may have been another's before. */
    private OptionalLong find(long gpu, int number) {
        return find("nvmlDeviceGetGpuInstanceById", gpu, number);
    }

    private OptionalLong find(String function, long of, int number) {
        PointerByReference handle = new PointerByReference();
        Set<Integer> absent = Set.of(NOT_FOUND, NOT_SUPPORTED); // the latter outside MIG mode
        return nvml.succeeds(absent, function, pointer(of), number, handle)
                ? OptionalLong.of(Pointer.nativeValue(handle.getValue()))
                : OptionalLong.empty();
    }
}
