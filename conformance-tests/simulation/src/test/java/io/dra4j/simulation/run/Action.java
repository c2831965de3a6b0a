// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import java.util.Set;

/** The kinds of steps: how often each is drawn and, if only some plans have it, the themes that have it more often. */
public enum Action {
    CREATE_POD(30),
    CREATE_PODS(4, Theme.ALL, Theme.INSTANCES),
    CREATE_CONFLICT(3, Theme.ALL, Theme.INSTANCES),
    SHARE_CLAIMS(4),
    END_POD(20),
    END_PODS(3, Theme.ALL, Theme.INSTANCES),
    DRAIN(1, Theme.ALL),
    DELETE_CLAIM_BY_FORCE(3, Theme.ALL, Theme.CLUSTER),
    KILL(4, Theme.ALL, Theme.DISK),
    KILL_AT_DISK(12, Theme.ALL, Theme.CRASHES),
    KILL_AT_REQUEST(4, Theme.ALL),
    KILL_AFTER_REQUEST(4, Theme.ALL, Theme.CLUSTER),
    KILL_AT_HARDWARE(7, Theme.ALL, Theme.CRASHES, Theme.CLUSTER),
    UPDATE_DRIVER(3, Theme.ALL, Theme.INSTANCES, Theme.CRASHES),
    UPDATE_DRIVER_BY_KILL(2, Theme.ALL),
    LOSE_POWER(2, Theme.ALL, Theme.DISK, Theme.CRASHES),
    LOSE_POWER_AT_DISK(4, Theme.ALL, Theme.DISK),
    LOSE_POWER_AT_ANSWER(4, Theme.ALL, Theme.DISK),
    REBOOT(1, Theme.ALL),
    RESTART_KUBELET(2, Theme.ALL),
    RESTART_KUBELET_IN_CALL(4, Theme.ALL, Theme.INSTANCES, Theme.CRASHES),
    END_PODS_IN_CALL(4, Theme.ALL, Theme.INSTANCES),
    FORGET_IN_KUBELET(2, Theme.ALL, Theme.CLUSTER),
    FAIL_READ(2, Theme.ALL),
    FAIL_WRITE(3, Theme.ALL, Theme.DISK),
    FAIL_SYNC(3, Theme.ALL, Theme.DISK),
    TEAR_WRITE(3, Theme.ALL, Theme.DISK),
    FILL_DISK(2, Theme.ALL, Theme.DISK),
    STALL_DISK(2, Theme.ALL),
    FAIL_REQUESTS(4, Theme.ALL, Theme.CLUSTER),
    FAIL_CHANGES(3, Theme.ALL, Theme.CLUSTER),
    STOP_API_SERVER(2, Theme.ALL, Theme.CLUSTER),
    REFUSE_REQUESTS(2, Theme.ALL),
    END_WATCHES(2, Theme.ALL, Theme.CLUSTER),
    WIPE_POOL(2, Theme.ALL, Theme.CLUSTER),
    CHANGE_SLICE(2, Theme.ALL, Theme.CLUSTER),
    DELETE_NODE(1, Theme.ALL),
    REMOVE_CHIP(2, Theme.ALL),
    RETURN_CHIP(3, Theme.ALL),
    REPLACE_CHIP(1, Theme.ALL),
    SWAP_CHIPS(1, Theme.ALL),
    CHANGE_HEALTH(2, Theme.ALL, Theme.CLUSTER),
    FAIL_PROVIDER(4, Theme.ALL, Theme.CRASHES),
    TAINT_DEVICE(2, Theme.ALL),
    MAINTAIN_DEVICE(1, Theme.ALL),
    END_MAINTENANCE(1, Theme.ALL);

    final int weight;
    final Set<Theme> themes;

    Action(int weight, Theme... themes) {
        this.weight = weight;
        this.themes = Set.of(themes);
    }
}
