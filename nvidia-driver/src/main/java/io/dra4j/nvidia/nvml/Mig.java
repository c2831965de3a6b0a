// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.List;
import java.util.Optional;

/**
 * How a GPU is divided, and could be.
 *
 * @param enabled whether it is divided now, so that nobody can use it as a whole
 * @param pending whether it will be after the next reset
 * @param profiles what it could be divided into, in the order of NVML's indices
 * @param devices what it is divided into
 */
public record Mig(
        boolean enabled, boolean pending, List<MigProfile> profiles, List<MigDevice> devices) {

    /** Copies the lists. */
    public Mig {
        profiles = List.copyOf(profiles);
        devices = List.copyOf(devices);
    }

    /** The profile that the hardware has under a number. */
    public Optional<MigProfile> profile(int id) {
        return profiles.stream().filter(profile -> profile.id() == id).findFirst();
    }
}
