// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml.jna;

/** A call of NVML that returned something else than success. */
public final class NvmlCallException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String function;
    private final int code;

    NvmlCallException(String function, int code, String words) {
        super(function + ": " + words + " (" + code + ")");
        this.function = function;
        this.code = code;
    }

    /** The name of the function, with its version. */
    public String function() {
        return function;
    }

    /** What it returned: an {@code nvmlReturn_t}. */
    public int code() {
        return code;
    }
}
