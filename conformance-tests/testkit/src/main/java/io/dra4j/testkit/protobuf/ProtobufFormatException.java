// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.protobuf;

import org.jspecify.annotations.Nullable;

/** Bytes or JSON that do not fit the schema; the message names the place and the reason. */
public final class ProtobufFormatException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean kindIsKnown;

    /** A fault of the envelope. */
    ProtobufFormatException(String message) {
        this(message, false, null);
    }

    ProtobufFormatException(String message, boolean kindIsKnown, @Nullable Throwable cause) {
        super(message, cause);
        this.kindIsKnown = kindIsKnown;
    }

    /** True if the bytes are those of a malformed object of a known kind. */
    public boolean kindIsKnown() {
        return kindIsKnown;
    }
}
