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

    /** Returns what its code finds around it, as {@link Simulation#newProcess} was told. */
    public Object host() {
        return host;
    }

    public String name() {
        return name;
    }

    /** Returns whether it was killed; its threads may still be on their way to the end. */
    public boolean isDead() {
        return isDead;
    }

    /** Ends it: each of its threads gets {@link Killed} where it is, and wherever it comes to from then on. */
    public void kill() {
        isDead = true;
    }

    @Override
    public String toString() {
        return name;
    }
}
