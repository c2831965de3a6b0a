// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

/** An invariant that does not hold: which one, for which object, and since when. */
public final class Violation extends AssertionError {

    private static final long serialVersionUID = 1L;

    private final Invariant invariant;

    Violation(Invariant invariant, String message) {
        super(invariant + ": " + message);
        this.invariant = invariant;
    }

    /** Returns what does not hold: two runs with the same value failed in the same way. */
    public Invariant invariant() {
        return invariant;
    }

    /** A condition that must always hold. */
    public enum Invariant {
        /** No device, counter or capacity is given to two claims beyond its share. */
        EXCLUSIVE,
        /** The runtime calls the provider as its interface says. */
        PROVIDER_CALLS,
        /** A claim gets the hardware that the slices named when it was allocated. */
        AS_NAMED,
        /** The hardware is set for a claim that is answered as prepared. */
        HARDWARE_SET,
        /** The journal is complete, and a claim that it records as prepared is set up, with a spec. */
        RECORDED,
        /** A claim that was answered as prepared has its CDI spec until it is unprepared, or the node reboots. */
        SPEC_THERE,
        /** A claim that was answered as prepared is answered the same again. */
        SAME_ANSWER,
        /** A claim that was answered as unprepared has left nothing. */
        NOTHING_LEFT,
        /** When faults have ended, pods run, ended ones are gone, and slices equal the inventory. */
        LIVENESS,
        /** An unchanged restart writes nothing. */
        UNCHANGED,
        /** No write to the API is lost or invented. */
        WRITES
    }
}
