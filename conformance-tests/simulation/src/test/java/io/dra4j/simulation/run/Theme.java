// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import java.util.random.RandomGenerator;

/** The subjects of plans: each has some faults more often than others. */
enum Theme {
    ALL,
    DISK,
    INSTANCES,
    CRASHES,
    CLUSTER;

    static Theme of(long seed) {
        return values()[(int) Long.remainderUnsigned(seed, values().length)];
    }

    /** Draws how much more often an action is than others of the same weight. */
    int times(Action action, RandomGenerator random) {
        if (action.themes.isEmpty()) {
            return 1;
        }
        if (this == ALL) {
            return random.nextInt(3);
        }
        return action.themes.contains(this) ? 4 : random.nextInt(4) / 3;
    }

    /** Returns a factor for the longest times, because orphans are searched for only after minutes. */
    int patience() {
        return this == CLUSTER ? 9 : 1;
    }
}
