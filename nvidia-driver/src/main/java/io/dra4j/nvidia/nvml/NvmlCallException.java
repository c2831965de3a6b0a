// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.Set;

/** A call of NVML that did not return success, or returned an invalid value. */
final class NvmlCallException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The session is unusable: not initialized, no driver in the kernel, or another version. */
    private static final Set<Integer> SESSION_ENDED =
            Set.of(NvmlLibrary.UNINITIALIZED, NvmlLibrary.DRIVER_NOT_LOADED, NvmlLibrary.LIB_RM_VERSION_MISMATCH);

    private static final int UNKNOWN = 999;

    private final int code;

    private NvmlCallException(String message, int code) {
        super(message);
        this.code = code;
    }

    NvmlCallException(String function, int code, String text) {
        this(function + ": " + text + " (" + code + ")", code);
    }

    /** Returns the failure of a call that succeeded with an impossible value. */
    static NvmlCallException invalid(String function, Object value) {
        return new NvmlCallException("%s returned an invalid value: \"%s\"".formatted(function, value), UNKNOWN);
    }

    NvmlCallException because(String meaning) {
        return new NvmlCallException("%s (%s)".formatted(meaning, getMessage()), code);
    }

    /** Returns the code that NVML returned: an {@code nvmlReturn_t}; 999 for an invalid value. */
    int code() {
        return code;
    }

    /** Returns whether the session has ended, regardless of the function that returned this. */
    boolean endsSession() {
        return SESSION_ENDED.contains(code);
    }

    /** Returns whether the failure loses only what the call would have read. */
    boolean concernsOneCall() {
        return !endsSession() && code != NvmlLibrary.GPU_IS_LOST;
    }
}
