// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.bench;

/**
 * The driver breaks the rule that is tried.
 *
 * <p>The message says what was seen and what should have been, for somebody who knows the driver
 * and not the suite.
 */
public final class Violation extends RuntimeException {

    private static final long serialVersionUID = 1;

    public Violation(String message) {
        super(message);
    }

    /** Throws unless a condition holds; the message is formatted only then. */
    public static void unless(boolean holds, String message, Object... arguments) {
        if (!holds) {
            throw new Violation(message.formatted(arguments));
        }
    }
}
