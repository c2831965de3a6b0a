// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigProfile;
import java.util.List;
import java.util.Optional;

/**
 * The name of a profile in {@code nvidia-smi}: {@code 1g.10gb}, {@code 1g.10gb+me}.
 *
 * <p>It is the one that NVML has. Drivers before R570 have none: the memory in it is then the GPU's in whole GiB, times
 * the eighths that an instance has. It is a name and not an amount, and may change with a new driver.
 */
final class ProfileName {

    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final int EIGHTHS = 8;

    /** Suffixes by NVML's index, which distinguish variants of a size. */
    private static final List<String> VARIANTS = List.of(
            "", "", "", "", "", "", "", "+me", "+me", "", "+gfx", "+gfx", "+gfx", "-me", "-me", "+me.all", "+me.all",
            "+gfx");

    private ProfileName() {}

    /** Returns the name; empty for an unknown index of which NVML has none. */
    static Optional<String> of(Gpu gpu, MigProfile profile) {
        if (profile.name() != null) {
            return Optional.of(profile.name());
        }
        if (profile.index() >= VARIANTS.size()) {
            return Optional.empty();
        }
        String variant = VARIANTS.get(profile.index());
        return Optional.of(of(gpu, profile.slices(), profile.memoryMiB()) + variant);
    }

    /** Returns the name without the suffix of its variant. */
    static String of(Gpu gpu, int slices, long memoryMiB) {
        return "%dg.%dgb".formatted(slices, gibibytes(gpu, memoryMiB));
    }

    private static long gibibytes(Gpu gpu, long memoryMiB) {
        Long total = gpu.memory();
        if (total == null || total == 0) {
            return Math.round((double) memoryMiB * MIB / GIB);
        }
        double eighths = Math.ceil((double) memoryMiB * MIB * EIGHTHS / total);
        double whole = Math.ceil((double) total / GIB);
        return Math.round(eighths / EIGHTHS * whole);
    }
}
