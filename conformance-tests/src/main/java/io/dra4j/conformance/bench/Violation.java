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

    private final boolean minor;

    public Violation(String message) {
        this(message, false);
    }

    private Violation(String message, boolean minor) {
        super(message);
        this.minor = minor;
    }

    /** Whether a SHOULD is broken, also where the rule as a whole is a MUST. */
    public boolean isMinor() {
        return minor;
    }

    /** Throws unless a condition holds; the message is formatted only then. */
    public static void unless(boolean holds, String message, Object... arguments) {
        if (!holds) {
            throw new Violation(message.formatted(arguments));
        }
    }

    /** The same for a part of a rule that is no more than a SHOULD. */
    public static void minorUnless(boolean holds, String message, Object... arguments) {
        if (!holds) {
            throw new Violation(message.formatted(arguments), true);
        }
    }
}
