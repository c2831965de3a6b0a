// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.WriteGroup;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares each claim exactly once, and unprepares it, even if the kubelet repeats or forgets calls.
 *
 * <p>Claims run in parallel; the operations of one claim run one after the other, and one that is repeated while it
 * runs is joined ({@link ClaimQueue}). {@link Preparation} and {@link Unpreparation} are the operations, {@link
 * ClaimLifecycle} their durable steps. A prepare always reads the claim's object; an unprepare never does.
 *
 * <p>Every claim of a call is answered, about a second before the kubelet gives up on the call; work that takes longer
 * continues, and the kubelet's next try joins it. Thread-safe.
 */
public final class ClaimPreparation implements ClaimOperations {

    private static final Logger LOG = LoggerFactory.getLogger(ClaimPreparation.class);
    private static final Duration MARGIN = Duration.ofSeconds(1);

    /**
     * A claim that is prepared in this boot.
     *
     * @param claim the claim as its provider sees it
     * @param pods the pods that it was reserved for when it was prepared
     */
    public record ClaimInUse(HeldClaim claim, List<String> pods) {}

    /** The claims of a list of the journal, as their provider sees them. */
    private record Held(List<ClaimRecord> records, List<HeldClaim> claims) {}

    private final ClaimParts context;
    private final Executor executor;
    private final Function<Set<String>, WriteGroup> groups;
    private final Preparation preparation;
    private final Unpreparation unpreparation;
    private final SpecRepair specs;
    private final Orphans orphans;
    private volatile Held held = new Held(List.of(), List.of()); // when it was last asked for
    private CompletableFuture<Void> search = CompletableFuture.completedFuture(null); // begun by maintain()

    /**
     * Creates the operations; nothing is done before {@link #recover}.
     *
     * @param executor runs the operations; it needs a thread for each claim that is worked on
     */
    public ClaimPreparation(ClaimParts context, Executor executor) {
        this(context, executor, context.journal()::group, Deadline.MONOTONIC);
    }

    ClaimPreparation(
            ClaimParts context, Executor executor, Function<Set<String>, WriteGroup> groups, InstantSource monotonic) {
        this.context = context;
        this.executor = executor;
        this.groups = groups;
        ClaimQueue queue = new ClaimQueue(executor);
        LostClaims lost = new LostClaims(context);
        this.unpreparation = new Unpreparation(context, queue, lost);
        this.specs = new SpecRepair(context, lost);
        this.orphans = new Orphans(context, unpreparation, monotonic);
        this.preparation = new Preparation(context, queue, executor, lost, unpreparation, orphans::noteInTheWay);
    }

    /**
     * Recovers the claims of the journal, before the first call: lost claims are searched for, and CDI specs are
     * reconciled. What fails now is tried again by {@link #maintain}.
     */
    public void recover() {
        specs.recover();
    }

    /**
     * Writes missing CDI specs again, does repairs that are due, and starts a search for orphans, which may take
     * minutes, without waiting for it; to be called every few seconds, by one thread.
     */
    public void maintain() {
        specs.repairAgain();
        CompletableFuture<Void> last = search;
        if (last.isDone()) {
            search = orphans.isDue()
                    ? CompletableFuture.runAsync(orphans::look, executor)
                    : CompletableFuture.completedFuture(null);
            last.join(); // throws what ended it
        }
    }

    /** Prevents further calls of the provider, which is closed next. */
    public void close() {
        context.providerCalls().close();
    }

    /** Returns the claims that are held; the same list until they change, for callers that ask several times a second. */
    public List<HeldClaim> held() {
        List<ClaimRecord> records = context.journal().claims();
        Held known = held;
        if (known.records != records) {
            known = new Held(records, records.stream().map(context::held).toList());
            held = known;
        }
        return known.claims;
    }

    public List<ClaimInUse> inUse() {
        return context.journal().claims().stream()
                .filter(context::isPrepared)
                .map(record ->
                        new ClaimInUse(context.held(record), Objects.requireNonNullElse(record.pods(), List.of())))
                .toList();
    }

    @Override
    public Map<ClaimRef, PrepareOutcome> prepare(List<ClaimRef> claims, Instant deadline, BooleanSupplier hasLeft) {
        Deadline waiting = Deadline.at(deadline, context.clock(), hasLeft);
        Duration margin = margin(waiting);
        // The object is read before the call's outcome is due, so that the outcome has the reason.
        Deadline readBy = waiting.before(margin.multipliedBy(3).dividedBy(2));
        WriteGroup writes = writes(claims.stream().map(ClaimRef::uid).toList());
        return all(
                claims,
                ref -> preparation
                        .submit(ref, waiting, readBy, writes)
                        .whenComplete((outcome, failed) -> writes.leave(ref.uid())),
                waiting.before(margin),
                PrepareOutcome.Failed::new);
    }

    @Override
    public Map<String, UnprepareOutcome> unprepare(List<String> uids, Instant deadline) {
        Deadline waiting = Deadline.at(deadline, context.clock());
        WriteGroup writes = writes(uids);
        return all(
                uids,
                uid -> unpreparation.submit(uid, waiting, writes).whenComplete((outcome, failed) -> writes.leave(uid)),
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
            List<K> claims, Function<K, CompletableFuture<T>> submit, Deadline answerBy, Function<String, T> failed) {
        Map<K, CompletableFuture<T>> futures = new LinkedHashMap<>();
        claims.forEach(claim -> futures.computeIfAbsent(claim, submit));
        Map<K, T> outcomes = new LinkedHashMap<>();
        futures.forEach((claim, future) -> outcomes.put(claim, await(future, answerBy, failed)));
        return outcomes;
    }

    private static <T> T await(CompletableFuture<T> future, Deadline answerBy, Function<String, T> failed) {
        try {
            return future.get(answerBy.left().toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return failed.apply("the driver is still working on the claim; the next try joins it");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failed.apply("the driver is stopping; the next attempt continues with the claim");
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RejectedExecutionException) {
                return failed.apply("the driver is stopping; the next attempt continues with the claim");
            }
            LOG.error("A claim operation failed unexpectedly; please report this as a dra4j bug", e.getCause());
            return failed.apply("internal error of the driver; see its log");
        }
    }
}
