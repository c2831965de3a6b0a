// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A GPU as NVML reports it. Attributes that NVML does not report are null.
 *
 * @param uuid {@code GPU-…}
 * @param minor the number in {@code /dev/nvidia3}
 * @param moduleId the number of its module on a board with NVSwitches; also null if it has none
 * @param brand the line of products
 * @param computeCapability the CUDA compute capability, {@code 9.0}
 * @param memory memory in bytes; also null on boards that share the machine's memory
 * @param addressingMode {@code HMM}, {@code ATS} or {@code None}
 * @param fabric its place in an NVLink fabric; also null if it has none
 * @param links the GPUs and switches to which active NVLinks lead
 * @param mig MIG mode and devices; null if the GPU has no MIG mode
 */
public record Gpu(
        String uuid,
        PciAddress pci,
        int minor,
        @Nullable Integer moduleId,
        @Nullable String productName,
        @Nullable String brand,
        @Nullable Architecture architecture,
        @Nullable String computeCapability,
        @Nullable Long memory,
        @Nullable String addressingMode,
        @Nullable Fabric fabric,
        List<PciAddress> links,
        @Nullable Mig mig,
        boolean vgpu) {

    private static final int HOPPER = 9;

    public Gpu {
        Objects.requireNonNull(uuid);
        Objects.requireNonNull(pci);
        links = List.copyOf(links);
    }

    /**
     * Returns whether MIG mode can be switched without a reset while the GPU is idle: since Hopper,
     * which has compute capability 9.0, unless a switch turned out to need one.
     */
    public boolean switchesMigModeAtOnce() {
        if (vgpu || (mig != null && mig.modeNeedsReset())) {
            return false;
        }
        if (architecture != null && architecture != Architecture.UNKNOWN) {
            return architecture.compareTo(Architecture.HOPPER) >= 0;
        }
        return computeCapability != null && Integer.parseInt(computeCapability.split("\\.")[0]) >= HOPPER;
    }
}
