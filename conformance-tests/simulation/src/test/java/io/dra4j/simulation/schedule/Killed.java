// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

/** Ends the threads of a process that was killed: what they do next has no effect. */
public final class Killed extends Error {

    private static final long serialVersionUID = 1;

    Killed() {
        super("the process was killed", null, false, false);
    }
}
