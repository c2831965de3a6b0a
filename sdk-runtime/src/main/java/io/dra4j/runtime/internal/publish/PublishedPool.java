// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.publish.plan.CounterLayout;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.PlannedSlice;
import io.dra4j.runtime.internal.publish.plan.Publishable;
import io.dra4j.runtime.internal.publish.plan.SliceDiff;
import io.dra4j.runtime.internal.publish.plan.SliceWrite;
import io.dra4j.runtime.internal.publish.plan.TaintTimes;
import io.dra4j.runtime.internal.publish.plan.TaintTimes.TaintUpdates;
import io.dra4j.runtime.internal.validate.PoolRules;
import io.dra4j.runtime.internal.validate.PoolVerdict;
import io.dra4j.runtime.internal.validate.Problem;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Publishes one pool of the inventory: it is checked, planned, compared and written.
 *
 * <p>Each pool has its own retries and repairs, so that a pool that fails, or that another client keeps changing, never
 * delays another. Used only on the loop's thread.
 */
final class PublishedPool {

    private static final int FAILURES_WORTH_TELLING = 3;
    private static final SoundDevices REMOVED = new SoundDevices(null, Map.of(), List.of());

    private final PoolName name;
    private final SliceWriter writer;
    private final ServerFeatures features;
    private final PoolEvents events;
    private final boolean mayTaint;
    private final Retries retries;
    private final Repairs repairs;

    private State state = State.WAITING;
    private @Nullable List<PlannedSlice> plan;
    private @Nullable Pool last;
    private @Nullable Pool lastGood;
    private Map<DeviceName, Problem> leftOut = Map.of();
    private TaintTimes taintTimes = TaintTimes.none();

    private enum State {
        /** To be written when its time comes. */
        WAITING,
        /** The cluster has the pool. */
        PUBLISHED,
        /** Breaks a rule as a whole: nothing to do unless the inventory or the cluster changes. */
        INVALID,
        /** Has slices that can't be decoded, and no inventory replaces them: nothing to do. */
        UNREADABLE
    }

    PublishedPool(
            PoolName name,
            SliceWriter writer,
            ServerFeatures features,
            PoolEvents events,
            boolean mayTaint,
            RandomGenerator random) {
        this.name = name;
        this.writer = writer;
        this.features = features;
        this.events = events;
        this.mayTaint = mayTaint;
        this.retries = new Retries(random);
        this.repairs = new Repairs(random);
    }

    /** Returns the time of the next step; empty if there is none. */
    Optional<Instant> due() {
        return state == State.WAITING ? Optional.of(time()) : Optional.empty();
    }

    private Instant time() {
        return retries.due().isAfter(repairs.due()) ? retries.due() : repairs.due();
    }

    /** Notes that the pool may differ from the last view: the next step compares, without listing. */
    void compareAgain() {
        state = State.WAITING;
    }

    /** Another client changed or deleted a slice of the pool. */
    void disturbed(Instant now) {
        state = State.WAITING;
        if (repairs.undone(now)) {
            events.contested(name);
        }
    }

    void failed(Instant now, ClusterException failure) {
        retries.failed(now, failure.retryAfter());
        state = State.WAITING;
        // A transient failure, as at each restart of an API server, is not worth an alarm.
        if (!failure.isTransient() || retries.failures() >= FAILURES_WORTH_TELLING) {
            events.failed(name, failure);
        }
    }

    boolean isFailing() {
        return retries.failures() > 0;
    }

    /** Returns the reason why the cluster lacks the pool; empty if it does not. */
    Optional<String> missing() {
        return switch (state) {
            case PUBLISHED -> Optional.empty();
            case INVALID -> Optional.of("it breaks a rule of the API; see the log");
            case UNREADABLE -> Optional.of("it has slices that can't be read; see the log");
            case WAITING ->
                Optional.of(isFailing() ? "the API server rejected it; see the log" : "it is not written yet");
        };
    }

    /** Notes a failure caused by a bug; returns whether it differs from the last one. */
    boolean failed(Instant now, RuntimeException bug) {
        retries.failed(now, null);
        state = State.WAITING;
        events.failed(name, bug);
        return retries.isNews(bug.toString());
    }

    /**
     * Reconciles the cluster with the pool, if that is due.
     *
     * @param pool the provider's pool; {@code null} to remove it
     * @return true if the cluster equals it
     * @throws ClusterException if a request fails
     */
    boolean bring(@Nullable Pool pool, Instant now) {
        if (!Objects.equals(pool, last)) {
            last = pool;
            somethingNew();
        }
        if (state == State.WAITING && !time().isAfter(now)) {
            SoundDevices sound = pool == null ? REMOVED : SoundDevices.of(pool, this::verdict);
            leftOut = sound.leftOut();
            if (sound.problems().isEmpty()) {
                publish(sound.pool(), now);
                lastGood = sound.pool();
                events.published(name);
                events.invalidDevices(name, leftOut);
            } else {
                keepLastGood(now);
                state = State.INVALID; // with or without the last good one
                events.invalid(name, sound.problems());
            }
        }
        return state == State.PUBLISHED;
    }

    /** Returns the rules that a pool breaks if that keeps it from being published as a whole. */
    static List<Problem> problems(Pool pool, PoolRules rules) {
        return SoundDevices.of(pool, rules::verdict).problems();
    }

    /** Returns the devices that are not published because they break a rule, with the first problem of each. */
    Map<DeviceName, Problem> leftOut() {
        return leftOut;
    }

    /** Brings the next step forward: the desired state is new. */
    void somethingNew() {
        retries.somethingNew();
        repairs.somethingNew();
        state = State.WAITING;
    }

    /**
     * Brings the taints of the pool up to date, if that is due, while the rest of it is unknown.
     *
     * <p>Slices that this node does not own are those of another publisher, and stay as they are.
     *
     * @param taints puts the taints on a device that it should have
     * @return true if the cluster has them
     * @throws ClusterException if a request fails
     */
    boolean retaint(UnaryOperator<Device> taints, Instant now) {
        if (state == State.WAITING && !time().isAfter(now)) {
            List<Stored> unreadable = own().stream().filter(s -> !s.isDecoded()).toList();
            if (unreadable.isEmpty()) {
                int sent = writeTaints(taints);
                taintTimes = TaintTimes.of(writer.existing(name));
                retries.succeeded();
                repairs.done(now, sent);
                state = State.PUBLISHED;
                events.published(name);
            } else {
                state = State.UNREADABLE;
                events.unreadable(name, unreadable);
            }
        }
        return state == State.PUBLISHED;
    }

    private int writeTaints(UnaryOperator<Device> taints) {
        int sent = 0;
        boolean keepsTaints = true;
        while (true) { // each time, one slice fewer differs
            SliceWriter.Result result = writer.apply(
                    name,
                    keepsTaints ? TaintUpdates.of(own(), taints, taintTimes) : TaintUpdates.withdrawals(own(), taints));
            sent += result.writes();
            if (result.lost().isEmpty()) {
                return sent;
            }
            result.lost().forEach(features::lost);
            if (keepsTaints && result.lost().contains(Feature.TAINTS)) {
                keepsTaints = false;
                events.withdrawnForTaints(name);
            }
        }
    }

    private List<Stored> own() {
        return writer.existing(name).stream().filter(Stored::isOurs).toList();
    }

    private PoolVerdict verdict(Pool pool) {
        return features.verdict(pool, writer.existing(name));
    }

    /** An invalid pool changes nothing: what was published before stays, even if it is deleted. */
    private void keepLastGood(Instant now) {
        if (lastGood != null && verdict(lastGood).isGood()) { // on this server as well
            publish(lastGood, now);
        }
    }

    private void publish(@Nullable Pool pool, Instant now) {
        int sent = 0;
        for (int attempt = 0; attempt <= Feature.values().length; attempt++) {
            SliceWriter.Result result = writer.apply(name, planAndCompare(pool));
            sent += result.writes();
            if (result.lost().isEmpty()) {
                taintTimes = TaintTimes.of(writer.existing(name));
                retries.succeeded();
                repairs.done(now, sent);
                state = State.PUBLISHED;
                return;
            }
            result.lost().forEach(features::lost);
        }
        throw new IllegalStateException("The API server dropped other fields at each write");
    }

    private List<SliceWrite> planAndCompare(@Nullable Pool pool) {
        List<Stored> existing = writer.existing(name);
        if (pool == null) {
            plan = List.of();
            return SliceDiff.between(existing, plan, taintTimes);
        }
        Publishable publishable = Publishable.of(pool, features.missing(pool, existing));
        List<SliceWrite> writes = planAndCompare(publishable, existing);
        if (!writes.isEmpty()) {
            // Existing slices prove nothing for new ones: the server is probed.
            publishable = Publishable.of(pool, features.missing(pool, List.of()));
            writes = planAndCompare(publishable, existing);
        }
        events.leftOut(publishable);
        return writes;
    }

    private List<SliceWrite> planAndCompare(Publishable publishable, List<Stored> existing) {
        List<PlannedSlice> before = plan == null ? PlannedSlice.adopt(existing) : plan;
        CounterLayout layout = features.layout(publishable.pool());
        plan = layout.plan(publishable.pool(), before, mayTaint);
        writer.share(name, plan);
        return SliceDiff.between(existing, plan, taintTimes);
    }

    /**
     * The part of a pool that breaks no rule: an invalid device does not affect the others.
     *
     * <p>A pool is held back as a whole if it breaks a rule itself, or if each of its devices does: then the slices
     * published before are better than none.
     *
     * @param pool the pool without the devices that break a rule; {@code null} if it is held back
     * @param leftOut these devices, with the first problem of each; none if the pool is held back
     * @param problems the reasons for which the pool is held back, its own first
     */
    private record SoundDevices(@Nullable Pool pool, Map<DeviceName, Problem> leftOut, List<Problem> problems) {

        /** Leaves out devices until the rest breaks no rule. */
        static SoundDevices of(Pool pool, Function<Pool, PoolVerdict> rules) {
            Map<DeviceName, Problem> leftOut = new LinkedHashMap<>();
            Pool rest = pool;
            PoolVerdict verdict = rules.apply(rest);
            while (!verdict.isGood()) {
                rest = without(rest, verdict.devices().keySet());
                if (verdict.isOfPool() || rest.devices().isEmpty()) {
                    return new SoundDevices(null, Map.of(), poolFirst(verdict.problems()));
                }
                leftOut.putAll(verdict.devices());
                verdict = rules.apply(rest); // the rules of a release are checked if all others hold
            }
            return new SoundDevices(rest, leftOut, List.of());
        }

        private static Pool without(Pool pool, Set<DeviceName> devices) {
            return pool.toBuilder()
                    .devices(pool.devices().stream()
                            .filter(device -> !devices.contains(device.name()))
                            .toList())
                    .build();
        }

        private static List<Problem> poolFirst(List<Problem> problems) {
            return problems.stream()
                    .sorted(Comparator.comparing(problem -> problem.device() != null))
                    .toList();
        }
    }
}
