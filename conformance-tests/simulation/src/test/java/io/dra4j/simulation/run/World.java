// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

/** The world that a plan acts on; made and used on the director's thread of a simulation. */
public interface World {

    /** Takes a step; one that is not possible now changes nothing. */
    void take(Step step);

    /** Ends all faults, lets time pass, and checks that all is as it must be then. */
    void settle();
}
