// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.nvml.jna.NvmlCallException;

/** Turns what NVML returned into what somebody can act on. */
final class Translation {

    private Translation() {}

    static NvmlException of(String what, NvmlCallException e) {
        Reason reason = reason(e.code());
        return new NvmlException(reason, what + " failed: " + e.getMessage() + advice(reason), e);
    }

    /** By {@code nvmlReturn_t}. */
    static Reason reason(int code) {
        return switch (code) {
            case 9, 12 -> Reason.NO_DRIVER;
            case 15 -> Reason.GPU_LOST;
            case 19 -> Reason.IN_USE;
            case 23 -> Reason.NO_ROOM;
            case 6, 28 -> Reason.NOT_FOUND;
            case 4 -> Reason.NO_PERMISSION;
            default -> Reason.FAILING;
        };
    }

    private static String advice(Reason reason) {
        return switch (reason) {
            case NO_DRIVER -> "; load the driver's kernel module, nvidia";
            case GPU_LOST -> "; the GPU has fallen off the bus, and needs a reset of the node";
            case IN_USE -> "; end the processes that use it";
            case NO_ROOM -> "; another instance is there, which may not be this driver's";
            case NO_PERMISSION -> "; run the driver as root, with access to the MIG capabilities";
            case NOT_FOUND, FAILING -> "";
        };
    }
}
