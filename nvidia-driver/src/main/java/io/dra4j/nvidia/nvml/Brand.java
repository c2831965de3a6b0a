// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.List;

/** The names of NVML's {@code nvmlBrandType_t}, as used in attributes. */
public final class Brand {

    private static final List<String> NAMES = List.of(
            "Unknown",
            "Quadro",
            "Tesla",
            "NVS",
            "Grid",
            "GeForce",
            "Titan",
            "NvidiaVApps",
            "NvidiaVPC",
            "NvidiaVCS",
            "NvidiaVWS",
            "NvidiaCloudGaming",
            "QuadroRTX",
            "NvidiaRTX",
            "Nvidia",
            "GeForceRTX",
            "TitanRTX");

    private Brand() {}

    public static String name(int number) {
        return number >= 0 && number < NAMES.size() ? NAMES.get(number) : NAMES.get(0);
    }
}
