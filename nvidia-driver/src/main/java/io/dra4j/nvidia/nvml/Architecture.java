// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/** A generation of GPUs, by NVML's {@code nvmlDeviceArchitecture_t}. */
public enum Architecture {
    KEPLER(2, "Kepler"),
    MAXWELL(3, "Maxwell"),
    PASCAL(4, "Pascal"),
    VOLTA(5, "Volta"),
    TURING(6, "Turing"),
    AMPERE(7, "Ampere"),
    ADA(8, "Ada Lovelace"),
    HOPPER(9, "Hopper"),
    BLACKWELL(10, "Blackwell"),
    RUBIN(13, "Rubin"),
    UNKNOWN(-1, "Unknown");

    private final int number;
    private final String title;

    Architecture(int number, String title) {
        this.number = number;
        this.title = title;
    }

    public static Architecture of(int number) {
        for (Architecture each : values()) {
            if (each.number == number) {
                return each;
            }
        }
        return UNKNOWN;
    }

    public String title() {
        return title;
    }
}
