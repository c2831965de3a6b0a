// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

/** The kinds of steps: how often each is drawn, and whether only some plans have it. */
public enum Action {
    CREATE_POD(30, false),
    SHARE_CLAIMS(4, false),
    END_POD(20, false),
    DRAIN(1, true),
    DELETE_CLAIM_BY_FORCE(3, true),
    KILL(4, true),
    KILL_AT_DISK(12, true),
    KILL_AT_REQUEST(4, true),
    KILL_AT_HARDWARE(7, true),
    UPDATE_DRIVER(3, true),
    UPDATE_DRIVER_BY_KILL(2, true),
    LOSE_POWER(2, true),
    LOSE_POWER_AT_DISK(4, true),
    REBOOT(1, true),
    RESTART_KUBELET(2, true),
    RESTART_KUBELET_IN_CALL(4, true),
    FORGET_IN_KUBELET(2, true),
    FAIL_READ(2, true),
    FAIL_WRITE(3, true),
    FAIL_SYNC(3, true),
    TEAR_WRITE(3, true),
    FILL_DISK(2, true),
    STALL_DISK(2, true),
    FAIL_REQUESTS(4, true),
    REFUSE_REQUESTS(2, true),
    END_WATCHES(2, true),
    WIPE_POOL(2, true),
    CHANGE_SLICE(2, true),
    DELETE_NODE(1, true),
    REMOVE_CHIP(2, true),
    RETURN_CHIP(3, true),
    REPLACE_CHIP(1, true),
    SWAP_CHIPS(1, true),
    CHANGE_HEALTH(2, true),
    FAIL_PROVIDER(4, true),
    TAINT_DEVICE(2, true),
    MAINTAIN_DEVICE(1, true),
    END_MAINTENANCE(1, true);

    final int weight;
    final boolean isFault;

    Action(int weight, boolean isFault) {
        this.weight = weight;
        this.isFault = isFault;
    }
}
