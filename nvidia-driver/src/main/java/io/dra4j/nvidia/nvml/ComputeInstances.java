// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.nvml.jna.MigCalls;
import io.dra4j.nvidia.nvml.jna.MigCalls.Profile;
import io.dra4j.nvidia.nvml.jna.NvmlCallException;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Chooses the profile of a compute instance by asking the GPU instance what it can have.
 *
 * <p>Seven slices have two profiles, of which most boards know one alone and say that they have
 * both: the usual one is tried first, and the next if it is refused.
 */
final class ComputeInstances {

    private static final int PROFILES = 9;
    private static final int NOT_SUPPORTED = 3;

    private final MigCalls mig;
    private final MigReader reader;

    ComputeInstances(MigCalls mig, MigReader reader) {
        this.mig = mig;
        this.reader = reader;
    }

    MigDevice create(String gpu, long handle, int instance) {
        long in =
                mig.instance(handle, instance)
                        .orElseThrow(() -> absent(gpu, instance, "it is not there any more"));
        int compute = mig.describeCompute(create(gpu, instance, in)).id();
        return reader.instance(in).devices().stream()
                .filter(device -> device.computeInstance() == compute)
                .findFirst()
                .orElseThrow(() -> absent(gpu, instance, "its compute instance is gone again"));
    }

    private long create(String gpu, int instance, long in) {
        NvmlCallException refused = null;
        for (Profile profile : asLargeAs(in)) {
            try {
                return mig.createCompute(in, profile.id());
            } catch (NvmlCallException e) {
                if (e.code() != NOT_SUPPORTED) {
                    throw e;
                }
                refused = e;
            }
        }
        if (refused != null) {
            throw refused;
        }
        throw absent(gpu, instance, "it has no profile of compute instances as large as itself");
    }

    private List<Profile> asLargeAs(long instance) {
        List<Profile> all =
                IntStream.range(0, PROFILES)
                        .mapToObj(index -> mig.computeProfile(instance, index))
                        .flatMap(Optional::stream)
                        .toList();
        int most = all.stream().mapToInt(Profile::slices).max().orElse(0);
        return all.stream().filter(profile -> profile.slices() == most).toList();
    }

    private static NvmlException absent(String gpu, int instance, String why) {
        return new NvmlException(
                Reason.NOT_FOUND,
                "No compute instance in GPU instance %d of %s: %s".formatted(instance, gpu, why),
                null);
    }
}
