// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import java.util.Arrays;
import java.util.Optional;

/**
 * The driver breaks the rule that is tried.
 *
 * <p>The message has what was seen and what was expected, for a reader who knows the driver and not
 * the suite.
 */
public final class Violation extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final boolean minor;
    private final String profile;

    public Violation(String message) {
        this(message, false, "");
    }

    /** A violation with the arguments of its message. */
    public Violation(String message, Object... arguments) {
        this(message.formatted(arguments));
    }

    private Violation(String message, boolean minor, String profile) {
        super(message);
        this.minor = minor;
        this.profile = profile;
    }

    /**
     * The same of a part of the rule that only those drivers are held to that claim an optional
     * profile: requirements of other profiles can still be checked.
     */
    public Violation of(String optionalProfile) {
        Violation own = new Violation(getMessage(), minor, optionalProfile);
        own.setStackTrace(getStackTrace());
        return own;
    }

    /** The optional profile whose part of the rule is broken; empty if all depends on it. */
    public String profile() {
        return profile;
    }

    /** Returns whether a SHOULD is broken, also where the rule as a whole is a MUST. */
    public boolean isMinor() {
        return minor;
    }

    /** A condition that must hold; {@link Condition#because} throws unless it does. */
    public static Condition unless(boolean holds) {
        return new Condition(holds, false);
    }

    /** A condition that is no more than a SHOULD in some cases. */
    public static Condition unless(boolean holds, boolean minor) {
        return new Condition(holds, minor);
    }

    /** A condition of a part of a rule that is no more than a SHOULD. */
    public static Condition minorUnless(boolean holds) {
        return new Condition(holds, true);
    }

    /**
     * A condition of a rule.
     *
     * @param holds whether it holds
     * @param minor whether it is no more than a SHOULD
     */
    public record Condition(boolean holds, boolean minor) {
        /** Throws unless the condition holds; the message is formatted only then. */
        public void because(String message, Object... arguments) {
            if (!holds) {
                throw new Violation(message.formatted(arguments), minor, "");
            }
        }
    }

    /** Throws if there is a complaint, which is the last argument of the message. */
    public static void ifPresent(Optional<String> complaint, String message, Object... arguments) {
        if (complaint.isPresent()) {
            Object[] all = Arrays.copyOf(arguments, arguments.length + 1);
            all[arguments.length] = complaint.get();
            throw new Violation(message.formatted(all));
        }
    }
}
