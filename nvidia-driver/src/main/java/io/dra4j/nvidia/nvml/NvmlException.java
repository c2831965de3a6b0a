// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import io.dra4j.api.error.DraException;
import org.jspecify.annotations.Nullable;

/**
 * A failed operation of NVML; a node without GPUs is not a failure.
 *
 * <p>The message states the operation, NVML's error, and the next step.
 */
public final class NvmlException extends DraException {

    private static final long serialVersionUID = 1L;

    /** The reason, as far as callers or administrators act on it. */
    public enum Reason {
        /** The library, or the driver in the kernel, is missing. */
        NO_DRIVER("; load the driver's kernel module, nvidia"),
        GPU_LOST("; the GPU has fallen off the bus, and needs a reset of the node"),
        IN_USE("; end the processes that use it"),
        NO_ROOM("; another instance occupies the place, possibly one that this driver has not created"),
        NOT_FOUND(""),
        NO_PERMISSION("; run the driver as root, with access to the MIG capabilities"),
        /** The driver was reloaded or replaced, or the session was ended; the next call opens a new one. */
        SESSION_ENDED("; the driver was reloaded or replaced"),
        /** NVML was released temporarily, on request. */
        GIVEN_BACK(""),
        FAILING("");

        private final String advice;

        Reason(String advice) {
            this.advice = advice;
        }

        static Reason of(int code) {
            return switch (code) {
                case NvmlLibrary.UNINITIALIZED, NvmlLibrary.LIB_RM_VERSION_MISMATCH -> SESSION_ENDED;
                case NvmlLibrary.DRIVER_NOT_LOADED, 12 -> NO_DRIVER;
                case NvmlLibrary.GPU_IS_LOST -> GPU_LOST;
                case 19 -> IN_USE;
                case 23 -> NO_ROOM;
                case NvmlLibrary.NOT_FOUND, 28 -> NOT_FOUND;
                case NvmlLibrary.NO_PERMISSION -> NO_PERMISSION;
                default -> FAILING;
            };
        }
    }

    private final Reason reason;

    NvmlException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    static NvmlException of(String operation, NvmlCallException e) {
        Reason reason = Reason.of(e.code());
        return new NvmlException(reason, operation + " failed: " + e.getMessage() + reason.advice, e);
    }

    public Reason reason() {
        return reason;
    }
}
