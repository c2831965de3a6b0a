// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import org.jspecify.annotations.Nullable;

/** The cluster can't be read; the message says what failed, and what to do. */
public final class ReadException extends RuntimeException {

    private static final long serialVersionUID = 1;

    public ReadException(String message) {
        super(message);
    }

    ReadException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
