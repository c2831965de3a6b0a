// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

/** A rule has no answer, because the driver fails another requirement; the message names it. */
public final class Blocked extends RuntimeException {

    private static final long serialVersionUID = 1;

    /**
     * Blocked by a requirement.
     *
     * @param requirement its id
     * @param state how the driver is, so that nothing can be tried
     */
    public Blocked(String requirement, String state) {
        super(words(requirement, state));
    }

    /** The reason as results give it. */
    static String words(String requirement, String state) {
        return "needs " + requirement + ": " + state;
    }
}
