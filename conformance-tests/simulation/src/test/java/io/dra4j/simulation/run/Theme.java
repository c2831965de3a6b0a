// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import static io.dra4j.simulation.run.Action.CHANGE_HEALTH;
import static io.dra4j.simulation.run.Action.CHANGE_SLICE;
import static io.dra4j.simulation.run.Action.DELETE_CLAIM_BY_FORCE;
import static io.dra4j.simulation.run.Action.END_WATCHES;
import static io.dra4j.simulation.run.Action.FAIL_PROVIDER;
import static io.dra4j.simulation.run.Action.FAIL_REQUESTS;
import static io.dra4j.simulation.run.Action.FAIL_SYNC;
import static io.dra4j.simulation.run.Action.FAIL_WRITE;
import static io.dra4j.simulation.run.Action.FILL_DISK;
import static io.dra4j.simulation.run.Action.FORGET_IN_KUBELET;
import static io.dra4j.simulation.run.Action.KILL;
import static io.dra4j.simulation.run.Action.KILL_AT_DISK;
import static io.dra4j.simulation.run.Action.KILL_AT_HARDWARE;
import static io.dra4j.simulation.run.Action.LOSE_POWER;
import static io.dra4j.simulation.run.Action.LOSE_POWER_AT_DISK;
import static io.dra4j.simulation.run.Action.RESTART_KUBELET_IN_CALL;
import static io.dra4j.simulation.run.Action.TEAR_WRITE;
import static io.dra4j.simulation.run.Action.UPDATE_DRIVER;
import static io.dra4j.simulation.run.Action.WIPE_POOL;

import java.util.Set;
import java.util.random.RandomGenerator;

/** The faults that a plan has more often than others. */
enum Theme {
    ALL(1, Set.of()),
    DISK(1, Set.of(FAIL_WRITE, FAIL_SYNC, TEAR_WRITE, FILL_DISK, KILL, LOSE_POWER, LOSE_POWER_AT_DISK)),
    INSTANCES(1, Set.of(UPDATE_DRIVER, RESTART_KUBELET_IN_CALL)),
    CRASHES(1, Set.of(KILL_AT_DISK, KILL_AT_HARDWARE, LOSE_POWER, FAIL_PROVIDER, RESTART_KUBELET_IN_CALL)),
    CLUSTER(
            9,
            Set.of(
                    DELETE_CLAIM_BY_FORCE,
                    FORGET_IN_KUBELET,
                    KILL_AT_HARDWARE,
                    FAIL_REQUESTS,
                    END_WATCHES,
                    WIPE_POOL,
                    CHANGE_SLICE,
                    CHANGE_HEALTH));

    /** A factor of the longest times: orphans are looked for after minutes. */
    final int patience;

    private final Set<Action> often;

    Theme(int patience, Set<Action> often) {
        this.patience = patience;
        this.often = often;
    }

    static Theme of(long seed) {
        return values()[(int) Long.remainderUnsigned(seed, values().length)];
    }

    /** Draws how much more often than others of its weight an action is. */
    int times(Action action, RandomGenerator random) {
        if (!action.isFault) {
            return 1;
        }
        if (often.contains(action)) {
            return 4;
        }
        return this == ALL ? random.nextInt(3) : random.nextInt(4) / 3;
    }
}
