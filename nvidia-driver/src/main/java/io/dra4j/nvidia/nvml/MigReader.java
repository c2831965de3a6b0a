// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.MigProfile.Engines;
import io.dra4j.nvidia.nvml.jna.DeviceCalls;
import io.dra4j.nvidia.nvml.jna.MigCalls;
import io.dra4j.nvidia.nvml.jna.MigCalls.Instance;
import io.dra4j.nvidia.nvml.jna.NvmlCallException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads how a GPU is divided. Profiles are asked for, and never known before. */
final class MigReader {

    /** Indices of profiles of GPU instances; drivers before R525 know ten of them. */
    private static final int PROFILES = 18;

    private static final int COMPUTE_PROFILES = 9;
    private static final int MOST = 8;
    private static final int NOT_FOUND = 6;

    private final DeviceCalls devices;
    private final MigCalls mig;

    MigReader(DeviceCalls devices, MigCalls mig) {
        this.devices = devices;
        this.mig = mig;
    }

    @Nullable Mig read(long gpu) {
        MigCalls.Mode mode = mig.mode(gpu).orElse(null);
        if (mode == null) {
            return null;
        }
        List<MigProfile> profiles = profiles(gpu);
        List<MigDevice> found = new ArrayList<>();
        if (mode.current()) {
            instances(gpu, profiles).forEach(instance -> found.addAll(instance.devices()));
        }
        return new Mig(mode.current(), mode.pending(), profiles, found);
    }

    private List<MigProfile> profiles(long gpu) {
        List<MigProfile> profiles = new ArrayList<>();
        for (int index = 0; index < PROFILES; index++) {
            int number = index;
            mig.profile(gpu, index)
                    .map(found -> profile(gpu, number, found))
                    .ifPresent(profiles::add);
        }
        return profiles;
    }

    private MigProfile profile(long gpu, int index, MigCalls.Profile found) {
        List<Placement> placements =
                mig.placements(gpu, found.id()).stream()
                        .map(at -> new Placement(at.start(), at.size()))
                        .toList();
        return new MigProfile(
                index,
                found.id(),
                found.slices(),
                found.instances(),
                new Engines(
                        found.multiprocessors(),
                        found.copyEngines(),
                        found.decoders(),
                        found.encoders(),
                        found.jpegs(),
                        found.ofas()),
                found.memoryMiB(),
                placements);
    }

    /** The GPU instances that are there, whoever made them. */
    List<GpuInstance> instances(long gpu) {
        boolean divided = mig.mode(gpu).map(MigCalls.Mode::current).orElse(false);
        return divided ? instances(gpu, profiles(gpu)) : List.of();
    }

    private List<GpuInstance> instances(long gpu, List<MigProfile> profiles) {
        List<GpuInstance> found = new ArrayList<>();
        for (MigProfile profile : profiles) {
            for (long instance : mig.instances(gpu, profile.id(), MOST)) {
                instanceIfThere(instance).ifPresent(found::add);
            }
        }
        return found;
    }

    /** Somebody may destroy it while all are read. */
    private Optional<GpuInstance> instanceIfThere(long handle) {
        try {
            return Optional.of(instance(handle));
        } catch (NvmlCallException e) {
            if (e.code() == NOT_FOUND) {
                return Optional.empty();
            }
            throw e;
        }
    }

    GpuInstance instance(long handle) {
        Instance instance = mig.describe(handle);
        Placement placement =
                new Placement(instance.placement().start(), instance.placement().size());
        List<MigDevice> found = new ArrayList<>();
        for (int index = 0; index < COMPUTE_PROFILES; index++) {
            mig.computeProfile(handle, index)
                    .map(profile -> mig.computes(handle, profile.id(), MOST))
                    .orElse(List.of())
                    .forEach(compute -> found.add(device(instance, placement, compute)));
        }
        return new GpuInstance(instance.id(), instance.profileId(), placement, found);
    }

    private MigDevice device(Instance instance, Placement placement, long compute) {
        Instance described = mig.describeCompute(compute);
        return new MigDevice(
                devices.uuid(described.device()),
                instance.id(),
                described.id(),
                instance.profileId(),
                placement);
    }
}
