// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The driver breaks the rule that is checked.
 *
 * <p>The message has what was seen and what was expected, for a reader who knows the driver but not the suite.
 */
public final class Violation extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final boolean minor;
    private final String profile;
    private final transient List<String> roots;

    public Violation(String message) {
        this(message, false, "", List.of());
    }

    public Violation(String message, Object... arguments) {
        this(message.formatted(arguments));
    }

    Violation(String message, boolean minor, String profile, List<String> roots) {
        super(message);
        this.minor = minor;
        this.profile = profile;
        this.roots = List.copyOf(roots);
    }

    /**
     * The same for a part of the rule that applies only to drivers that claim an optional profile: requirements of
     * other profiles can still be checked.
     */
    public Violation of(String optionalProfile) {
        return copy(optionalProfile, roots);
    }

    /** The same for a kind of failure that other requirements are about: see {@link #roots}. */
    public Violation about(String... requirements) {
        return copy(profile, List.of(requirements));
    }

    private Violation copy(String ofProfile, List<String> ofRoots) {
        Violation own = new Violation(getMessage(), minor, ofProfile, ofRoots);
        own.setStackTrace(getStackTrace());
        return own;
    }

    /** The optional profile whose part of the rule is broken; empty if everything depends on it. */
    public String profile() {
        return profile;
    }

    /**
     * The requirements that a failure of this kind is about: if the driver breaks one of them, the violation says
     * nothing about the rule in which it was seen. Empty if it always belongs to that rule.
     */
    public List<String> roots() {
        return roots;
    }

    public Violation with(String more) {
        return new Violation(getMessage() + more, minor, profile, roots);
    }

    /** Returns whether a SHOULD is broken, even if the rule as a whole is a MUST. */
    public boolean isMinor() {
        return minor;
    }

    /** A condition that must hold; {@link Condition#because} throws unless it does. */
    public static Condition unless(boolean holds) {
        return new Condition(holds, false, List.of());
    }

    /** A condition of a part of a rule that is only a SHOULD. */
    public static Condition minorUnless(boolean holds) {
        return new Condition(holds, true, List.of());
    }

    /** A condition of a rule; if it is minor, only a SHOULD. */
    public record Condition(boolean holds, boolean minor, List<String> roots) {

        /** The same for a kind of failure that other requirements are about: see {@link Violation#roots}. */
        public Condition about(String... requirements) {
            return new Condition(holds, minor, List.of(requirements));
        }

        /** Throws unless the condition holds; the message is formatted only then. */
        public void because(String message, Object... arguments) {
            if (!holds) {
                throw new Violation(message.formatted(arguments), minor, "", roots);
            }
        }
    }

    /** Throws if there is a complaint, which is the last argument of the message. */
    public static void ifPresent(Optional<String> complaint, String message, Object... arguments) {
        ifPresent(List.of(), complaint, message, arguments);
    }

    /** The same for a complaint that other requirements are about. */
    static void ifPresent(List<String> roots, Optional<String> complaint, String message, Object... arguments) {
        Object[] all = Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = complaint.orElse("");
        unless(complaint.isEmpty()).about(roots.toArray(String[]::new)).because(message, all);
    }
}
