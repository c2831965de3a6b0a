// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

/** The world that a plan acts on; created and used on the director thread of a simulation. */
public interface World {

    /** Performs a step; one that is not possible now changes nothing. */
    void take(Step step);

    /** Ends all faults, lets time pass, and checks that the state is then correct. */
    void settle();
}
