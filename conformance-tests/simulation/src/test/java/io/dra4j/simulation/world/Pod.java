// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.simulation.schedule.Simulation;
import java.time.Instant;
import java.util.List;

/** A pod with claims, from its creation until nothing of it is left on the node. */
public final class Pod {

    /** A stage in the life of a pod. */
    public enum Phase {
        /** It has no devices yet. */
        UNSCHEDULED,
        /** The kubelet has accepted it. */
        WAITING,
        /** Its containers run. */
        RUNNING,
        /** The kubelet has unprepared its claims, and forgotten it. */
        GONE
    }

    private final String name;
    private final List<ClaimRef> claims;
    private Phase phase = Phase.UNSCHEDULED;
    private Instant since = Simulation.now();
    private boolean isEnded;

    Pod(String name, List<ClaimRef> claims) {
        this.name = name;
        this.claims = List.copyOf(claims);
    }

    public String name() {
        return name;
    }

    String uid() {
        return "uid-of-" + name;
    }

    public List<ClaimRef> claims() {
        return claims;
    }

    public Phase phase() {
        return phase;
    }

    /** Returns whether it should stop, or has stopped. */
    public boolean isEnded() {
        return isEnded;
    }

    void end() {
        isEnded = true;
    }

    void enter(Phase next) {
        phase = next;
        since = Simulation.now();
    }

    @Override
    public String toString() {
        return "pod " + name + " (" + (isEnded ? "ended, " : "") + phase + " since " + since + ", claims "
                + claims.stream().map(ClaimRef::uid).toList() + ")";
    }
}
