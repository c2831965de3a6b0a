// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

/** Thrown if an object cannot be read; the message names the object, the place in it and the problem. */
public final class InvalidObjectException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    InvalidObjectException(String message) {
        super(message);
    }
}
