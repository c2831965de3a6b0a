// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.fabric;

import io.dra4j.api.error.DraException;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/** A failed call of the fabric manager; the message has the next step. */
public final class FabricException extends DraException {

    static final int UNINITIALIZED = -4;
    static final int VERSION_MISMATCH = -6;
    static final int IN_USE = -7;
    static final int NO_LIBRARY = 1; // the library's codes are not positive

    private static final long serialVersionUID = 1;
    private static final ResourceBundle NEXT_STEPS = ResourceBundle.getBundle("io.dra4j.nvidia.fabric.codes");

    private final int code;

    FabricException(String what, int code, @Nullable Throwable cause) {
        super("The fabric manager of this node failed: %s: %s".formatted(what, nextStep(code)), cause);
        this.code = code;
    }

    private static String nextStep(int code) {
        String key = String.valueOf(code);
        return NEXT_STEPS.getString(NEXT_STEPS.containsKey(key) ? key : "other");
    }

    int code() {
        return code;
    }

    /** Returns whether it has not answered yet, or its library is being replaced. */
    public boolean isTransient() {
        return code == -5 || code == -8 || code == NO_LIBRARY;
    }
}
