// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

/** A call of NVML that returned something else than success. */
final class NvmlCallException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int code;

    NvmlCallException(String function, int code, String text) {
        super(function + ": " + text + " (" + code + ")");
        this.code = code;
    }

    /** Returns the code that NVML returned: an {@code nvmlReturn_t}. */
    int code() {
        return code;
    }
}
