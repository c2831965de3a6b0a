// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.InstancePlacement;
import io.dra4j.nvidia.nvml.MigDevice;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.pci.PciFunction;
import org.jspecify.annotations.Nullable;

/** The hardware behind a device's name. */
public sealed interface Offer {

    /** Returns the UUID under which faults of the hardware are recorded. */
    String uuid();

    PciAddress pci();

    /** Returns the GPU, or that of a MIG device; null if NVML has not seen it since the boot. */
    @Nullable
    Gpu gpu();

    default boolean isWhole() {
        return this instanceof Whole || this instanceof Passthrough;
    }

    /** A device of NVIDIA's driver. */
    sealed interface OfNvml extends Offer {

        @Override
        Gpu gpu();

        @Override
        default String uuid() {
            return gpu().uuid();
        }

        @Override
        default PciAddress pci() {
            return gpu().pci();
        }
    }

    /** A whole GPU. */
    record Whole(Gpu gpu) implements OfNvml {}

    /** A MIG device that the administrator has created. */
    record Existing(Gpu gpu, MigDevice device) implements OfNvml {}

    /** A MIG device that is created when a claim is prepared. */
    record OnDemand(Gpu gpu, MigProfile profile, InstancePlacement placement) implements OfNvml {}

    /**
     * A GPU for a virtual machine.
     *
     * @param gpu the GPU as NVML reported it; null if an administrator has bound it to vfio-pci
     */
    record Passthrough(PciFunction function, @Nullable Gpu gpu) implements Offer {
        @Override
        public String uuid() {
            return gpu == null ? DeviceNames.uuid(pci()) : gpu.uuid();
        }

        @Override
        public PciAddress pci() {
            return function.address();
        }
    }
}
