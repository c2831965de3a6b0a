// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.List;
import java.util.Optional;

/** The names of NVML's {@code nvmlDeviceAddressingModeType_t}, as attributes have them. */
final class AddressingMode {

    private static final List<String> TITLES = List.of("None", "HMM", "ATS");

    private AddressingMode() {}

    /** Returns the name of a number; empty if NVML has no such mode. */
    public static Optional<String> title(int number) {
        return number >= 0 && number < TITLES.size() ? Optional.of(TITLES.get(number)) : Optional.empty();
    }
}
