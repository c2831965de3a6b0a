// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.api;

import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * The fault that a request has, or none.
 *
 * @param amount the amount of the fault: seconds, pieces or revisions
 */
public record Fate(Fault fault, int amount) {

    public static final Fate PROCEED = new Fate(Fault.NONE, 0);

    /** Draws one of the faults that a request can have. */
    public static Fate drawn(Call call, RandomGenerator random) {
        List<Fault> fitting = Stream.of(Fault.values())
                .filter(fault -> fault != Fault.NONE && fault.fits(call))
                .toList();
        Fault fault = fitting.get(random.nextInt(fitting.size()));
        return new Fate(fault, random.nextInt(fault.most + 1));
    }
}
