// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

/** Ends the attempt to allocate, for all nodes or for one; the message is the scheduler's. */
final class AttemptException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final boolean ofNode;

    /** Ends it for all nodes. */
    AttemptException(String message) {
        this(message, false);
    }

    AttemptException(String message, boolean ofNode) {
        super(message, null, false, false);
        this.ofNode = ofNode;
    }

    /** Returns whether other nodes are tried nevertheless. */
    boolean isOfNode() {
        return ofNode;
    }

    /** Returns the message, which is never null. */
    String message() {
        return String.valueOf(getMessage());
    }
}
