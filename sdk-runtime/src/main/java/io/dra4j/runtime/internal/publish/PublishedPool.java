// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.validate.PoolRules;
import io.dra4j.runtime.internal.validate.Problem;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One pool on its way from the inventory into the cluster: checked, planned, compared, written.
 *
 * <p>Each pool has a pace of its own, so that one that fails, or that somebody else keeps changing,
 * never holds up another. Used on the loop's thread alone.
 */
final class PublishedPool {

    private final PoolName name;
    private final SliceWriter writer;
    private final ServerFeatures features;
    private final PoolNotices notices;
    private final boolean mayTaint;
    private final Pace pace;

    private State state = State.WAITING;
    private @Nullable List<PlannedSlice> plan;
    private @Nullable Pool last;

    private enum State {
        /** To be written when its time comes. */
        WAITING,
        /** The cluster has it. */
        PUBLISHED,
        /** Breaks a rule: nothing to do before the inventory changes. */
        INVALID
    }

    PublishedPool(
            PoolName name,
            SliceWriter writer,
            ServerFeatures features,
            PoolNotices notices,
            boolean mayTaint,
            RandomGenerator random) {
        this.name = name;
        this.writer = writer;
        this.features = features;
        this.notices = notices;
        this.mayTaint = mayTaint;
        this.pace = new Pace(random);
    }

    /** When there is something to do; empty if nothing is. */
    Optional<Instant> due() {
        return state == State.WAITING ? Optional.of(pace.due()) : Optional.empty();
    }

    /** The cluster was listed: the pool may be other than was thought. */
    void lookAgain() {
        state = State.WAITING;
    }

    /** Somebody else changed or deleted a slice of the pool. */
    void disturbed(Instant now) {
        state = State.WAITING;
        if (pace.disturbed(now)) {
            notices.contested(name);
        }
    }

    /** The cluster did not take the pool. */
    void failed(Instant now, ClusterException failure) {
        pace.failed(now, failure.retryAfter());
        state = State.WAITING;
        notices.failed(name, failure);
    }

    /**
     * Brings the cluster to what the pool says, if its time has come.
     *
     * @param pool the pool as the provider has it; {@code null} to withdraw it
     * @return whether the cluster equals it
     * @throws ClusterException if a request fails
     */
    boolean bring(@Nullable Pool pool, Instant now) {
        if (!Objects.equals(pool, last)) {
            pace.somethingNew();
            last = pool;
            state = State.WAITING;
        }
        if (state == State.WAITING && !pace.due().isAfter(now)) {
            List<Problem> problems = pool == null ? List.of() : PoolRules.problems(pool);
            if (problems.isEmpty()) {
                publish(pool, now);
            } else {
                keepLastGood(now);
                notices.invalid(name, problems);
            }
        }
        return state == State.PUBLISHED;
    }

    private void publish(@Nullable Pool pool, Instant now) {
        int writes = 0;
        Set<Feature> lost;
        do {
            List<Stored> existing = writer.existing(name);
            plan = pool == null ? List.of() : plan(pool, existing);
            SliceWriter.Result result = writer.apply(name, SliceDiff.between(existing, plan));
            writes += result.writes();
            lost = result.lost();
            lost.forEach(features::lost);
        } while (!lost.isEmpty());
        pace.succeeded(now, writes);
        state = State.PUBLISHED;
        notices.published(name);
    }

    private List<PlannedSlice> plan(Pool pool, List<Stored> existing) {
        Publishable publishable = Publishable.of(pool, features.missing(pool));
        notices.leftOut(publishable);
        List<PlannedSlice> before = plan == null ? PlannedSlice.adopt(existing) : plan;
        return SlicePlanner.plan(publishable.pool(), before, mayTaint);
    }

    /** An invalid pool changes nothing: what was published before stays, even if it is deleted. */
    private void keepLastGood(Instant now) {
        if (plan != null) {
            List<SliceWrite> repairs = SliceDiff.between(writer.existing(name), plan);
            pace.succeeded(now, writer.apply(name, repairs).writes());
        }
        state = State.INVALID;
    }
}
