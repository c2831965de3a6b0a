// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.error;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The root of all exceptions of the SDK.
 *
 * <p>Its message names what failed, on which object, and what to do next. It is unchecked, because most callers can
 * only propagate it to the code that logs it. If a provider throws it for a claim, the pod's owner also reads the
 * message: it must not contain secrets.
 */
public class DraException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception without a cause.
     *
     * @param message what failed, on which object, and what to do next
     */
    public DraException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what failed, on which object, and what to do next
     * @param cause what made it fail
     */
    public DraException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
