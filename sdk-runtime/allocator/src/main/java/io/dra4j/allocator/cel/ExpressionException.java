// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

/** Thrown if an expression cannot be compiled, or cannot be evaluated on a device; the message says why. */
public final class ExpressionException extends RuntimeException {
    private static final long serialVersionUID = 1;

    ExpressionException(String message) {
        super(message);
    }
}
