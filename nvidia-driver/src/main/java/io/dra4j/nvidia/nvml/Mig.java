// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.List;
import java.util.Optional;

/**
 * The MIG mode of a GPU, with possible and existing MIG devices.
 *
 * @param enabled whether MIG mode is on, so that the GPU can't be used as a whole
 * @param pending whether MIG mode will be on after the next reset
 * @param profiles the supported profiles, in the order of NVML's indices
 * @param devices the existing MIG devices that fill their GPU instances
 * @param modeNeedsReset whether a switch of the mode turned out to need a reset since the GPU was last absent
 */
public record Mig(
        boolean enabled, boolean pending, List<MigProfile> profiles, List<MigDevice> devices, boolean modeNeedsReset) {

    public Mig {
        profiles = List.copyOf(profiles);
        devices = List.copyOf(devices);
    }

    Optional<MigProfile> profileAt(int index) {
        return profiles.stream().filter(profile -> profile.index() == index).findFirst();
    }

    public Optional<MigProfile> profile(int id) {
        return profiles.stream().filter(profile -> profile.id() == id).findFirst();
    }
}
