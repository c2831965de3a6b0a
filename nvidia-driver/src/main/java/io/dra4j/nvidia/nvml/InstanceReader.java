// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static io.dra4j.nvidia.nvml.NvmlLibrary.ARGUMENT_VERSION_MISMATCH;
import static io.dra4j.nvidia.nvml.NvmlLibrary.FUNCTION_NOT_FOUND;
import static io.dra4j.nvidia.nvml.NvmlLibrary.INVALID_ARGUMENT;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_FOUND;
import static io.dra4j.nvidia.nvml.NvmlLibrary.NOT_SUPPORTED;

import io.dra4j.nvidia.nvml.MigProfile.Engines;
import io.dra4j.nvidia.nvml.NvmlProblem.Cost;
import io.dra4j.nvidia.nvml.jna.SharedLibrary;
import io.dra4j.nvidia.nvml.jna.Structs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the profiles of GPU instances, and existing instances with the compute instances in them. An instance that is
 * destroyed during the reading is left out.
 *
 * <p>NVML has two numbers for a profile: an index, by which its information is read, and a hardware id, by which
 * everything else is requested. Profiles are always read from the board.
 */
final class InstanceReader {

    private static final int COMPUTE_PROFILES = 9;
    private static final int MOST_INSTANCES = 64; // no board has more than 8

    /** Returned for a handle whose instance was destroyed. */
    static final Set<Integer> STALE = Set.of(INVALID_ARGUMENT, NOT_FOUND);

    /** Returned for indices that the driver does not know yet, or the board does not have. */
    private static final Set<Integer> NO_SUCH_PROFILE = Set.of(INVALID_ARGUMENT, NOT_SUPPORTED, FUNCTION_NOT_FOUND);

    private static final String NONE = "the GPU is in MIG mode, and NVML reports no profile";
    private static final String PROFILE_INFO = "nvmlDeviceGetGpuInstanceProfileInfo";
    private static final String NAMED_INFO = "nvmlDeviceGetGpuInstanceProfileInfoV";

    /** Returned by a driver that has no names of profiles. */
    private static final Set<Integer> NO_NAMES = Set.of(FUNCTION_NOT_FOUND, ARGUMENT_VERSION_MISMATCH);

    /** A name of a profile, which becomes a part of names of devices. */
    private static final Pattern NAME = Pattern.compile("(?:MIG )?([0-9]{1,2}g\\.[0-9]{1,4}gb[a-z.+-]{0,16})");

    /** Indices of profiles of GPU instances: drivers before R525 know 10 of them, and R580 knows 18. */
    private static final int PROFILES = 24;

    private static final int MOST_PLACEMENTS = 64; // no board has more than 8
    private static final int MOST_SLICES = 16; // no board has more than 8
    private static final long NO_ROOM = 0; // a null pointer: NVML returns only the number
    private static final long MOST_UNITS = 1 << 24; // of an engine, or MiB of memory

    private final NvmlLibrary nvml;
    private volatile String asked = NAMED_INFO; // the function that this driver has

    InstanceReader(NvmlLibrary nvml) {
        this.nvml = nvml;
    }

    /**
     * A GPU instance.
     *
     * @param largest the compute slices of its largest compute instance; 0 if there is none
     */
    record Found(GpuInstance instance, int largest) {}

    record ComputeProfile(int id, int slices) {}

    private record Compute(MigDevice device, int slices) {}

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
        InstancePlacement placement = placement(info.placement);
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

    /** Some boards report a profile that they do not support, but never first. */
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

    private Optional<MigDevice> device(Structs.GpuInstanceInfo in, InstancePlacement placement, long compute) {
        Structs.ComputeInstanceInfo info = new Structs.ComputeInstanceInfo();
        if (!nvml.succeeds(STALE, "nvmlComputeInstanceGetInfo_v2", compute, info)) {
            return Optional.empty();
        }
        return Optional.of(
                new MigDevice(nvml.text("nvmlDeviceGetUUID", info.device), in.id, info.id, in.profileId, placement));
    }

    /** Returns the profiles of compute instances; a GPU instance without any is an error. */
    List<ComputeProfile> computeProfiles(long instance) {
        List<ComputeProfile> profiles = new ArrayList<>();
        String function = "nvmlGpuInstanceGetComputeInstanceProfileInfo";
        for (int index = 0; index < COMPUTE_PROFILES; index++) {
            Structs.ComputeInstanceProfile p = new Structs.ComputeInstanceProfile();
            if (nvml.succeeds(NO_SUCH_PROFILE, function, instance, index, 0, p)) {
                profiles.add(new ComputeProfile(p.id, p.sliceCount));
            }
        }
        if (profiles.isEmpty()) {
            throw new NvmlCallException(
                    function, NOT_SUPPORTED, "the GPU instance has no profile of compute instances");
        }
        return profiles;
    }

    /** Returns the supported profiles of a GPU in MIG mode, without their placements. */
    List<MigProfile> profilesWithoutPlacements(long gpu) {
        List<MigProfile> found = new ArrayList<>();
        Structs.NamedInstanceProfile answer = new Structs.NamedInstanceProfile();
        for (int index = 0; index < PROFILES; index++) {
            MigProfile profile = profile(gpu, index, answer);
            if (profile != null) {
                found.add(profile);
            }
        }
        if (found.isEmpty()) {
            throw new NvmlCallException(asked, NOT_SUPPORTED, NONE);
        }
        return found;
    }

    /**
     * Reads the supported profiles with their placements; unreadable parts are returned as last read, or left out.
     *
     * @throws NvmlCallException if the GPU is lost, or the session has ended
     */
    List<MigProfile> profiles(long gpu, boolean isEnabled, @Nullable Mig before, Problems problems) {
        List<MigProfile> found = new ArrayList<>();
        Problems.Parts unread = new Problems.Parts(Cost.PROFILE, "MIG profiles of NVML's indices");
        Problems.Parts unplaced = new Problems.Parts(Cost.PLACEMENTS, "MIG profiles");
        Structs.NamedInstanceProfile answer =
                new Structs.NamedInstanceProfile(); // by reflection: one for all is faster
        for (int i = 0; i < PROFILES; i++) {
            int index = i;
            MigProfile last = before == null ? null : before.profileAt(index).orElse(null);
            MigProfile profile = unread.read(index, () -> profile(gpu, index, answer), last);
            if (profile != null) {
                List<InstancePlacement> known = last == null ? List.of() : last.placements();
                List<InstancePlacement> placements = unplaced.read(
                        profile.id(), () -> placements(gpu, profile.id()), known.isEmpty() ? null : known);
                found.add(profile.at(placements == null ? List.of() : placements));
            }
        }
        unread.addTo(problems);
        unplaced.addTo(problems);
        return found.isEmpty() && isEnabled ? last(before, problems) : found;
    }

    /** Reports missing profiles: in MIG mode there must be some. */
    private List<MigProfile> last(@Nullable Mig before, Problems problems) {
        String reason = asked + ": " + NONE;
        if (before == null || before.profiles().isEmpty()) {
            problems.part(Cost.PROFILE, "MIG profiles", reason);
            return List.of();
        }
        problems.kept("MIG profiles", reason);
        return before.profiles();
    }

    /** Reads a profile without its placements; null if there is none. */
    private @Nullable MigProfile profile(long gpu, int index, Structs.NamedInstanceProfile named) {
        Arrays.fill(named.name, (byte) 0); // of an earlier answer
        int code = nvml.call(NAMED_INFO, gpu, index, named);
        if (!NO_NAMES.contains(code)) {
            return NO_SUCH_PROFILE.contains(code) ? null : named(code, index, named);
        }
        asked = PROFILE_INFO;
        Structs.GpuInstanceProfile p = new Structs.GpuInstanceProfile();
        return nvml.succeeds(NO_SUCH_PROFILE, PROFILE_INFO, gpu, index, p)
                ? profile(index, p.numbers, p.memorySizeMB, null)
                : null;
    }

    private MigProfile named(int code, int index, Structs.NamedInstanceProfile named) {
        nvml.check(NAMED_INFO, code);
        Matcher name = NAME.matcher(SharedLibrary.text(named.name));
        return profile(index, named.numbers, named.memorySizeMB, name.matches() ? name.group(1) : null);
    }

    private MigProfile profile(int index, Structs.ProfileNumbers p, long memoryMiB, @Nullable String name) {
        long[] amounts = {
            p.id,
            p.sliceCount,
            p.instanceCount,
            p.multiprocessorCount,
            p.copyEngineCount,
            p.decoderCount,
            p.encoderCount,
            p.jpegCount,
            p.ofaCount,
            memoryMiB
        };
        if (p.sliceCount > MOST_SLICES || LongStream.of(amounts).anyMatch(it -> it < 0 || it > MOST_UNITS)) {
            throw NvmlCallException.invalid(asked, Arrays.toString(amounts));
        }
        Engines engines = new Engines(
                p.multiprocessorCount, p.copyEngineCount, p.decoderCount, p.encoderCount, p.jpegCount, p.ofaCount);
        return new MigProfile(index, p.id, p.sliceCount, p.instanceCount, engines, memoryMiB, List.of(), name);
    }

    /** Returns the possible placements of a profile in NVML's order, occupied or not. */
    private List<InstancePlacement> placements(long gpu, int profileId) {
        String function = "nvmlDeviceGetGpuInstancePossiblePlacements_v2";
        int[] count = new int[1];
        nvml.require(function, gpu, profileId, NO_ROOM, count);
        int room = count[0];
        if (room < 0 || room > MOST_PLACEMENTS) {
            throw NvmlCallException.invalid(function, room);
        }
        if (room == 0) {
            return List.of();
        }
        Structs.PlacementStruct[] all = Structs.placements(room);
        nvml.require(function, gpu, profileId, all, count);
        Set<Long> found = new HashSet<>(); // the hash code of a record costs the start of the driver some milliseconds
        return Stream.of(all)
                .limit(Math.max(0, count[0]))
                .map(InstanceReader::placement)
                .peek(place -> requireValid(function, place))
                .filter(place -> found.add((long) place.start() << Integer.SIZE | place.size()))
                .toList();
    }

    private static InstancePlacement placement(Structs.PlacementStruct struct) {
        return new InstancePlacement(struct.start, struct.size);
    }

    private static void requireValid(String function, InstancePlacement place) {
        if (place.start() < 0 || place.size() < 1 || (long) place.start() + place.size() > MOST_SLICES) {
            throw NvmlCallException.invalid(function, place);
        }
    }
}
