// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.LockFile;
import io.dra4j.runtime.internal.checkpoint.WriteGroup;
import io.dra4j.runtime.internal.claim.allocation.DeviceHolds;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.status.ClaimReports;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares each claim exactly once, and unprepares it, whatever the kubelet repeats or forgets.
 *
 * <p>Claims run in parallel; the operations of one claim run one after the other, and one that is
 * repeated while it runs is joined ({@link ClaimQueue}). What a prepare does in its turn, and what
 * an unprepare does, is told by {@link Preparation} and {@link Unpreparation}; what is durable
 * when, by {@link ClaimLifecycle}. A prepare always reads the claim's object; an unprepare never
 * does.
 *
 * <p>Every claim of a call is answered, about a second before the kubelet gives the call up; work
 * that takes longer goes on, and the kubelet's next try joins it. Thread-safe.
 */
public final class ClaimPreparation implements ClaimOperations {

    private static final Logger LOG = LoggerFactory.getLogger(ClaimPreparation.class);
    private static final Duration MARGIN = Duration.ofSeconds(1);

    private final Parts parts;
    private final Function<Set<String>, WriteGroup> groups;
    private final ClaimLifecycle.Lives lives;
    private final Preparation preparation;
    private final Unpreparation unpreparation;
    private final LostClaims lost;
    private final SpecRepair specs;
    private final Orphans orphans;

    /**
     * Makes the way of claims; nothing is done before {@link #takeUp}.
     *
     * @param parts what claims are prepared with
     * @param executor runs the operations; it needs a thread for each claim that is worked on
     */
    public ClaimPreparation(Parts parts, Executor executor) {
        this(parts, executor, parts.journal::group);
    }

    ClaimPreparation(Parts parts, Executor executor, Function<Set<String>, WriteGroup> groups) {
        this.parts = parts;
        this.groups = groups;
        this.lives =
                new ClaimLifecycle.Lives(
                        parts.provider,
                        parts.journal,
                        parts.locks,
                        parts.specs,
                        parts.reports,
                        new DeviceHolds());
        ClaimQueue queue = new ClaimQueue(executor);
        this.unpreparation = new Unpreparation(lives, queue);
        this.lost = new LostClaims(parts, lives);
        this.specs = new SpecRepair(parts, lives, lost);
        this.preparation =
                new Preparation(
                        parts,
                        lives,
                        queue,
                        executor,
                        lost,
                        new StaleClaims(lives, unpreparation, parts.inventory));
        this.orphans = new Orphans(parts, unpreparation, Deadline.MONOTONIC);
    }

    /**
     * What claims are prepared with.
     *
     * @param driver the driver's name
     * @param provider prepares the devices
     * @param reader reads claims
     * @param journal remembers claims
     * @param locks keep other processes of the driver from a claim
     * @param specs tells containers
     * @param reports tells what devices report
     * @param inventory the last inventory that could be read
     * @param clock the time
     * @param notices hear of damage
     * @param dataDirectory the driver's directory below the kubelet's plugins
     */
    public record Parts(
            String driver,
            DeviceProvider provider,
            ClaimReader reader,
            Journal journal,
            LockFile locks,
            CdiSpecs specs,
            ClaimReports reports,
            Supplier<Optional<Inventory>> inventory,
            InstantSource clock,
            EventRecorder notices,
            Path dataDirectory) {}

    /**
     * Takes up the claims of the journal, before the first call: lost claims are looked for, and
     * CDI specs brought in line. What can't be done now is tried again by {@link #lookAfter}.
     */
    public void takeUp() {
        specs.takeUp();
    }

    /** Does what is due behind the scenes; to be called every few seconds, by one thread. */
    public void lookAfter() {
        specs.repairAgain();
        orphans.look();
    }

    /** Returns the claims that the journal knows. */
    public List<HeldClaim> held() {
        return parts.journal.claims().stream().map(lives::held).toList();
    }

    @Override
    public Map<ClaimRef, PrepareOutcome> prepare(List<ClaimRef> claims, Instant deadline) {
        Deadline waiting = Deadline.at(deadline, parts.clock);
        Duration margin = margin(waiting);
        Deadline readBy = waiting.before(margin.multipliedBy(3).dividedBy(2));
        WriteGroup writes = writes(claims.stream().map(ClaimRef::uid).toList());
        return all(
                claims,
                ref ->
                        preparation
                                .submit(ref, waiting, readBy, writes)
                                .whenComplete((outcome, failed) -> writes.leave(ref.uid())),
                waiting.before(margin),
                PrepareOutcome.Failed::new);
    }

    @Override
    public Map<String, UnprepareOutcome> unprepare(List<String> uids, Instant deadline) {
        Deadline waiting = Deadline.at(deadline, parts.clock);
        WriteGroup writes = writes(uids);
        return all(
                uids,
                uid ->
                        unpreparation
                                .submit(uid, waiting, writes)
                                .whenComplete((outcome, failed) -> writes.leave(uid)),
                waiting.before(margin(waiting)),
                UnprepareOutcome.Failed::new);
    }

    private WriteGroup writes(Collection<String> uids) {
        return groups.apply(new HashSet<>(uids));
    }

    /** A short call needs some of its time for the work. */
    private static Duration margin(Deadline deadline) {
        Duration quarter = deadline.left().dividedBy(4);
        return quarter.compareTo(MARGIN) < 0 ? quarter : MARGIN;
    }

    private static <K, T> Map<K, T> all(
            List<K> claims,
            Function<K, CompletableFuture<T>> submit,
            Deadline answerBy,
            Function<String, T> failed) {
        Map<K, CompletableFuture<T>> futures = new LinkedHashMap<>();
        claims.forEach(claim -> futures.computeIfAbsent(claim, submit));
        Map<K, T> outcomes = new LinkedHashMap<>();
        futures.forEach((claim, future) -> outcomes.put(claim, await(future, answerBy, failed)));
        return outcomes;
    }

    private static <T> T await(
            CompletableFuture<T> future, Deadline answerBy, Function<String, T> failed) {
        try {
            return future.get(answerBy.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return failed.apply("the driver still works on the claim; the next try joins it");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failed.apply("the driver stops; the next try goes on with the claim");
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RejectedExecutionException) {
                return failed.apply("the driver stops; the next try goes on with the claim");
            }
            LOG.error("A claim operation failed in a way that is a bug of dra4j", e.getCause());
            return failed.apply("internal error of the driver; its log says more");
        }
    }
}
