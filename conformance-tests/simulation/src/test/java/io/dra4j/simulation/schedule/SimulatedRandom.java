// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.util.random.RandomGenerator;

/** Replaces {@link java.util.concurrent.ThreadLocalRandom}. */
public final class SimulatedRandom implements RandomGenerator {

    private static final SimulatedRandom ONLY = new SimulatedRandom();

    private SimulatedRandom() {}

    public static SimulatedRandom current() {
        return ONLY;
    }

    @Override
    public long nextLong() {
        return Simulation.random().nextLong();
    }
}
