// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

/** A rule cannot be decided because the driver fails another requirement, which the message names. */
public final class Blocked extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final String requirement;
    private final String state;

    /** The state is that of the driver, which prevents the check. */
    public Blocked(String requirement, String state) {
        super("needs " + requirement + ": " + state);
        this.requirement = requirement;
        this.state = state;
    }

    public String requirement() {
        return requirement;
    }

    public String state() {
        return state;
    }
}
