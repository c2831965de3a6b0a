// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigProfile;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The name of a profile, as {@code nvidia-smi} writes it: {@code 1g.10gb}, {@code 1g.10gb+me}.
 *
 * <p>The memory in it is the GPU's in whole GiB, times the eighths of it that an instance has: it
 * is a name and no amount, and may change with a new driver.
 */
final class ProfileName {

    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final int EIGHTHS = 8;

    /** What follows the memory, by NVML's index: variants of a size differ in nothing else. */
    private static final Map<Integer, String> VARIANTS =
            Map.ofEntries(
                    Map.entry(0, ""),
                    Map.entry(1, ""),
                    Map.entry(2, ""),
                    Map.entry(3, ""),
                    Map.entry(4, ""),
                    Map.entry(5, ""),
                    Map.entry(6, ""),
                    Map.entry(7, "+me"),
                    Map.entry(8, "+me"),
                    Map.entry(9, ""),
                    Map.entry(10, "+gfx"),
                    Map.entry(11, "+gfx"),
                    Map.entry(12, "+gfx"),
                    Map.entry(13, "-me"),
                    Map.entry(14, "-me"),
                    Map.entry(15, "+me.all"),
                    Map.entry(16, "+me.all"));

    private ProfileName() {}

    /** The name; empty for an index that this driver does not know. */
    static Optional<String> of(Gpu gpu, MigProfile profile) {
        return Optional.ofNullable(VARIANTS.get(profile.index()))
                .map(
                        variant ->
                                String.format(
                                        Locale.ROOT,
                                        "%dg.%dgb%s",
                                        profile.slices(),
                                        gibibytes(gpu, profile),
                                        variant));
    }

    private static long gibibytes(Gpu gpu, MigProfile profile) {
        Long total = gpu.memory();
        if (total == null || total == 0) {
            return Math.round((double) profile.memoryMiB() * MIB / GIB);
        }
        double eighths = Math.ceil((double) profile.memoryMiB() * MIB * EIGHTHS / total);
        double whole = Math.ceil((double) total / GIB);
        return Math.round(eighths / EIGHTHS * whole);
    }
}
