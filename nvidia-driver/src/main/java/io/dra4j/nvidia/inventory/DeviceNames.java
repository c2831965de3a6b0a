// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigProfile;
import io.dra4j.nvidia.nvml.Placement;
import java.util.Locale;

/** The names of devices, which are those of NVIDIA's driver: claims may select by name. */
final class DeviceNames {

    private DeviceNames() {}

    /** Returns {@code gpu-0}, by the number of its device node. */
    static String gpu(Gpu gpu) {
        return "gpu-" + gpu.minor();
    }

    /** Returns {@code gpu-0-mig-1g10gb-19-3}: profile, its id, and the first memory slice. */
    static String mig(Gpu gpu, String profileName, MigProfile profile, Placement placement) {
        return "%s-mig-%s-%d-%d".formatted(gpu(gpu), canonical(profileName), profile.id(), placement.start());
    }

    /** Returns {@code gpu-vfio-0}, by the position among the GPUs of the PCI bus. */
    static String vfio(int position) {
        return "gpu-vfio-" + position;
    }

    /** Returns {@code gpu-0-counter-set}. */
    static String counterSet(Gpu gpu) {
        return gpu(gpu) + "-counter-set";
    }

    private static String canonical(String profileName) {
        return profileName
                .toLowerCase(Locale.ROOT)
                .replace(".", "")
                .replaceAll("[^a-z0-9-]", "-")
                .replaceAll("^-+|-+$", "");
    }
}
