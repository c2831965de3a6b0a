// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import io.dra4j.simulation.schedule.Simulation;
import java.time.Duration;
import java.util.List;

/** The clock of the node, which is wrong on some nodes, and reset again and again. */
final class NodeClock {

    private static final int ONE_WRONG_IN = 4; // nodes
    private static final List<Duration> SKEWS = List.of(
            Duration.ZERO, Duration.ofSeconds(40), Duration.ofMinutes(-30), Duration.ofHours(3), Duration.ofDays(-400));

    private final boolean isSet = Simulation.random().nextInt(ONE_WRONG_IN) == 0;

    /** Resets the clock before every other step. */
    void before(Step step) {
        int which = step.which() + step.number();
        if (isSet && which % 2 == 0) {
            Simulation.setClock(SKEWS.get(which / 2 % SKEWS.size()));
        }
    }
}
