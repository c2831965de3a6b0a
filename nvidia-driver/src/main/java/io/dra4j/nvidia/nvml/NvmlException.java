// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.api.error.DraException;
import org.jspecify.annotations.Nullable;

/**
 * NVML has no answer. Unlike a node without GPUs, which is an answer.
 *
 * <p>The message says what was asked, what NVML said, and what to do.
 */
public final class NvmlException extends DraException {

    private static final long serialVersionUID = 1L;

    /** Why there is no answer, as far as somebody acts on it. */
    public enum Reason {
        /** There is no library, or no driver in the kernel. */
        NO_DRIVER,
        /** The GPU has fallen off the bus. */
        GPU_LOST,
        /** Somebody still uses the instance. */
        IN_USE,
        /** Something else is where the instance should be. */
        NO_ROOM,
        /** What was asked for is not there. */
        NOT_FOUND,
        /** Only root may do it. */
        NO_PERMISSION,
        /** Whatever else. */
        FAILING
    }

    private final Reason reason;

    NvmlException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /** Why there is no answer. */
    public Reason reason() {
        return reason;
    }
}
