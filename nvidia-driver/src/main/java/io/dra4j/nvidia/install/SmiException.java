// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.install;

import io.dra4j.api.error.DraException;
import org.jspecify.annotations.Nullable;

/** A call of {@code nvidia-smi} that failed. */
public final class SmiException extends DraException {

    private static final long serialVersionUID = 1;

    private final Outcome outcome;

    SmiException(String message, Outcome outcome, @Nullable Throwable cause) {
        super(message, cause);
        this.outcome = outcome;
    }

    /** The state after a failed call. */
    public enum Outcome {
        /** The program has not run, or has said that it changed nothing. */
        UNCHANGED,
        /** The GPU, or the driver in the kernel, is missing, and so are its settings. */
        GONE,
        /** The program was stopped. */
        UNKNOWN
    }

    public Outcome outcome() {
        return outcome;
    }
}
