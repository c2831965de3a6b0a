// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.pci;

import io.dra4j.nvidia.nvml.PciAddress;
import org.jspecify.annotations.Nullable;

/**
 * A function of a PCI device at one time.
 *
 * @param device the vendor's number of the device
 * @param type the class, {@code 0x0302}: the upper 16 of its 24 bits
 * @param driver the kernel's driver that is bound to it; null for none
 * @param group its IOMMU group; null if the IOMMU is off
 * @param isOfVfio whether its driver created a vfio device for it, as kernels do since 6.1
 */
public record PciFunction(
        PciAddress address,
        int vendor,
        int device,
        int type,
        @Nullable String driver,
        @Nullable String group,
        boolean isOfVfio) {

    public static final int NVIDIA = 0x10de;

    // Classes of PCI: base class and subclass.
    private static final int VGA = 0x0300;
    private static final int ACCELERATOR = 0x0302; // "3D controller"
    private static final int BRIDGE = 0x0604;
    private static final int OTHER_BRIDGE = 0x0680;

    /** Returns whether it is a GPU of NVIDIA, with a display or without. */
    public boolean isGpu() {
        return vendor == NVIDIA && (type == VGA || type == ACCELERATOR);
    }

    boolean isNvswitch() {
        return vendor == NVIDIA && type == OTHER_BRIDGE;
    }

    /** Returns whether it is a bridge to other devices, which the kernel never assigns. */
    public boolean isBridge() {
        return type == BRIDGE;
    }

    /** Returns whether both are on one board: audio, USB and GPU differ only in the function. */
    public boolean isBeside(PciFunction other) {
        return slot().equals(other.slot());
    }

    private String slot() {
        return address.text().substring(0, address.text().indexOf('.'));
    }

    /** Returns whether its driver gives programs direct access: vfio-pci, or a variant. */
    public boolean isForMachines() {
        return driver != null && (isOfVfio || driver.matches("(.*[_-])?vfio[_-]pci"));
    }

    public boolean isBoundTo(String name) {
        return name.equals(driver);
    }
}
