// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

/** Ends the attempt to allocate, for all nodes; the message is the scheduler's. */
final class AttemptException extends RuntimeException {
    private static final long serialVersionUID = 1;

    AttemptException(String message) {
        super(message, null, false, false);
    }
}
