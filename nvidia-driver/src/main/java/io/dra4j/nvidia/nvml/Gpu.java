// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A GPU as NVML knows it.
 *
 * @param uuid {@code GPU-…}
 * @param pci where it is
 * @param minor the number in {@code /dev/nvidia3}
 * @param productName what its maker calls it
 * @param brand the line of products
 * @param architecture its generation
 * @param computeCapability what CUDA can do with it, {@code 9.0}
 * @param memory bytes of its own; null on boards that share the machine's
 * @param addressingMode {@code HMM}, {@code ATS} or {@code None}; null if the driver does not say
 * @param fabric its place in an NVLink fabric; null if it has none, or none is known
 * @param links where its NVLinks that are up lead to: other GPUs, or switches
 * @param mig how it is divided; null if it cannot be
 * @param vgpu whether it is a part of a GPU that a hypervisor has given this machine
 */
public record Gpu(
        String uuid,
        PciAddress pci,
        int minor,
        String productName,
        String brand,
        Architecture architecture,
        String computeCapability,
        @Nullable Long memory,
        @Nullable String addressingMode,
        @Nullable Fabric fabric,
        List<PciAddress> links,
        @Nullable Mig mig,
        boolean vgpu) {

    /** Copies the links, and checks that what every GPU has is there. */
    public Gpu {
        Objects.requireNonNull(uuid);
        Objects.requireNonNull(pci);
        Objects.requireNonNull(productName);
        Objects.requireNonNull(brand);
        Objects.requireNonNull(architecture);
        Objects.requireNonNull(computeCapability);
        links = List.copyOf(links);
    }
}
