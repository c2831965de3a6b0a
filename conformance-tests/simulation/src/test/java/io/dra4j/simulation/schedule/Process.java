// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

/** Threads that end together. */
public final class Process {

    private final String name;
    private final Object host;
    private boolean isDead;

    Process(String name, Object host) {
        this.name = name;
        this.host = host;
    }

    /** Returns the surroundings of its code, as given to {@link Simulation#newProcess}. */
    public Object host() {
        return host;
    }

    public String name() {
        return name;
    }

    /** Returns whether it was killed; its threads may still be ending. */
    public boolean isDead() {
        return isDead;
    }

    /** Ends it: each of its threads gets {@link Killed} where it is, and at each later step. */
    public void kill() {
        isDead = true;
    }

    @Override
    public String toString() {
        return name;
    }
}
