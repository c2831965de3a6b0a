// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.Behaviour.Trait;
import io.dra4j.allocator.model.SubRequest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the devices of a request for all devices. */
record AllDevices(
        Behaviour behaviour,
        List<Pool> pools,
        List<Candidate> candidates,
        Selection selection,
        TakenShares shares,
        Trace trace) {
    /**
     * Returns the devices of all pools that can be selected and have the capacity.
     *
     * @throws AttemptException if a pool lacks slices, or is invalid
     */
    List<Candidate> of(Plan plan) {
        List<Candidate> all = new ArrayList<>();
        for (Pool pool : pools) {
            if (pool.incomplete() || pool.isInvalid()) {
                String subject = plan.subject() + "asks for all devices, but resource pool " + pool.id();
                throw new AttemptException(
                        subject + (pool.incomplete() ? " is currently being updated" : " is currently invalid"),
                        !behaviour.has(SchedulerBug.ALL_FAILS_ON_ALL_NODES));
            }
            for (Candidate candidate : candidates) {
                if (candidate.pool() == pool && passes(plan, candidate)) {
                    all.add(candidate);
                }
            }
        }
        return all;
    }

    private boolean passes(Plan plan, Candidate candidate) {
        Obstacle obstacle = selection.check(plan, candidate);
        if (obstacle == null) {
            obstacle = checkCapacity(plan.asked(), candidate);
        }
        if (obstacle != null) {
            trace.refused(plan, candidate, obstacle);
        }
        return obstacle == null;
    }

    private @Nullable Obstacle checkCapacity(SubRequest asked, Candidate candidate) {
        return behaviour.has(Trait.ALL_BY_CAPACITY_LEFT)
                ? shares.check(asked.capacity(), candidate)
                : shares.checkWhole(asked.capacity(), candidate);
    }
}
