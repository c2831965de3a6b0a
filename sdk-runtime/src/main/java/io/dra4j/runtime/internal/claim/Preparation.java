// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.checkpoint.ClaimIndex;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.Results;
import io.dra4j.runtime.internal.checkpoint.WriteGroup;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.allocation.Allocations;
import io.dra4j.runtime.internal.claim.allocation.DeviceHolds;
import io.dra4j.runtime.internal.claim.allocation.DeviceHolds.HoldConflict;
import io.dra4j.runtime.internal.claim.allocation.Hardware;
import io.dra4j.runtime.internal.cluster.ClaimCodec;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.observe.Metric;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A prepare: the claim is prepared, once, or the outcome has the reason.
 *
 * <p>In order: the claim's object is read, while other operations of the claim may run; when the claim's operation
 * starts, claims that a damaged journal lost are found again, and stale claims that hold its devices are unprepared;
 * then, with the claim's lock, a claim that is already prepared gets its results from the journal, and any other is
 * prepared ({@link ClaimLifecycle}), after any remains of it were unprepared. If it is refused, and forgotten claims
 * that held its devices could be unprepared, it is prepared once more. A recorded claim whose device is now different
 * hardware is refused, and stays held for its unprepare. A claim that fails is unprepared immediately; if that also
 * fails, the claim stays held for the kubelet's next call. Thread-safe.
 */
final class Preparation {

    private static final Logger LOG = LoggerFactory.getLogger(Preparation.class);

    private final ClaimParts context;
    private final ClaimQueue queue;
    private final Executor executor;
    private final Allocations allocations;
    private final LostClaims lost;
    private final StaleClaims stale;
    private final DeviceHolds holds;

    /** Prepares claims, and passes on the UIDs of claims that others were refused for. */
    Preparation(
            ClaimParts context,
            ClaimQueue queue,
            Executor executor,
            LostClaims lost,
            Unpreparation unpreparation,
            Consumer<String> inTheWay) {
        this.context = context;
        this.queue = queue;
        this.executor = executor;
        this.allocations = new Allocations(context.driver(), context.provider().configTypes());
        this.lost = lost;
        this.holds = new DeviceHolds(context.driver());
        this.stale = new StaleClaims(context, queue, holds, unpreparation, inTheWay);
    }

    /**
     * Reads a claim's object, and then submits its prepare.
     *
     * @param deadline when the caller stops waiting
     * @param readBy when the object must have been read
     */
    CompletableFuture<PrepareOutcome> submit(ClaimRef ref, Deadline deadline, Deadline readBy, WriteGroup writes) {
        ClaimQueue.Arrival arrival = queue.arrive(ref.uid());
        try {
            return CompletableFuture.supplyAsync(
                            ClaimQueue.inContextOfCaller(() -> read(ref, readBy, arrival, deadline, writes)), executor)
                    .thenCompose(submitted -> submitted)
                    .whenComplete((outcome, failed) -> arrival.close());
        } catch (RejectedExecutionException | OutOfMemoryError e) { // the driver stops, or has no more threads
            arrival.close();
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletableFuture<PrepareOutcome> read(
            ClaimRef ref, Deadline readBy, ClaimQueue.Arrival arrival, Deadline deadline, WriteGroup writes) {
        try {
            ClaimObject object = context.reader().read(ref, readBy.left());
            List<HeldDevice> devices = allocations.devices(ref, object);
            return arrival.submit(new ClaimQueue.Task<>(
                            PrepareOutcome.class,
                            devices,
                            deadline,
                            waiting -> prepared(ref, object, devices, waiting, writes)))
                    .orElseThrow(() -> new PrepareException(
                            "the claim was unprepared while it was read; the next try prepares it"));
        } catch (DraException e) {
            return CompletableFuture.completedFuture(refused(ref, e));
        }
    }

    private PrepareOutcome prepared(
            ClaimRef ref, ClaimObject object, List<HeldDevice> devices, Deadline deadline, WriteGroup writes) {
        try {
            lost.requireFound(deadline);
            stale.unprepareConflicting(ref, devices, deadline);
            try {
                return locked(ref, object, devices, deadline, writes);
            } catch (PrepareException e) {
                requireFreed(ref, devices, deadline, e);
                return locked(ref, object, devices, deadline, writes);
            }
        } catch (DraException e) {
            return refused(ref, e);
        }
    }

    private PrepareOutcome locked(
            ClaimRef ref, ClaimObject object, List<HeldDevice> devices, Deadline deadline, WriteGroup writes) {
        try (ClaimLifecycle lifecycle = ClaimLifecycle.take(context, ref.uid(), deadline, writes)) {
            requireCaller(deadline);
            return preparedOrNew(lifecycle, ref, object, devices);
        }
    }

    /**
     * Frees the devices of claims that the kubelet has forgotten. Called only for a claim that was refused, because it
     * looks at all claims and asks the API server.
     *
     * @throws PrepareException the refusal, if nothing was freed
     */
    private void requireFreed(ClaimRef ref, List<HeldDevice> devices, Deadline deadline, PrepareException refusal) {
        boolean isAnyFreed;
        try {
            isAnyFreed = stale.unprepareForgotten(ref, devices, deadline);
        } catch (ClusterException e) {
            refusal.addSuppressed(e);
            throw new PrepareException(
                    refusal.getMessage() + ". The kubelet has forgotten that claim, and the API server does not say"
                            + " whether it is finished: " + e.getMessage(),
                    refusal);
        }
        if (!isAnyFreed) {
            throw refusal;
        }
    }

    /** The kubelet may have had the claim unprepared by another process of the driver meanwhile. */
    private static void requireCaller(Deadline deadline) {
        if (!deadline.isAwaited()) {
            throw new PrepareException(
                    "the claim's operation started after the kubelet gave up on the call; the next try prepares it");
        }
    }

    private PrepareOutcome preparedOrNew(
            ClaimLifecycle lifecycle, ClaimRef ref, ClaimObject object, List<HeldDevice> devices) {
        Optional<ClaimRecord> record = lifecycle.record();
        Optional<Results> before = record.filter(known -> context.isPrepared(known) && holdsJust(known, devices))
                .map(ClaimRecord::results);
        if (before.isEmpty()) {
            lifecycle.endEarlierReport(ref, object.json()); // before any refusal
        }
        record.ifPresent(known -> Hardware.requireSame(known.devices(), context::requireInventory));
        if (before.isPresent()) {
            return lifecycle.restore(before.get());
        }
        record.ifPresent(left -> Unpreparation.unprepare(lifecycle, left));
        boolean isFirst = record.map(ClaimRecord::phase)
                .filter(phase -> phase == Phase.PREPARED || phase == Phase.DAMAGED)
                .isEmpty();
        return lifecycle.reported(prepare(lifecycle, ref, object, devices, isFirst));
    }

    private boolean holdsJust(ClaimRecord record, List<HeldDevice> devices) {
        return record.devices().size() == devices.size()
                && allocations.unidentified(record.devices()).equals(new HashSet<>(devices));
    }

    private Results prepare(
            ClaimLifecycle lifecycle, ClaimRef ref, ClaimObject object, List<HeldDevice> devices, boolean isFirst) {
        Inventory inventory = context.requireInventory();
        try {
            AllocatedClaim claim = allocations.read(ref, object, inventory);
            Hardware.requirePinned(claim, context.pins());
            Results results = lifecycle.prepare(claim, allocations.skipsUnprepare(object) ? true : null, committed -> {
                lost.requireNoneLost();
                holds.conflict(ref.uid(), devices, committed, inventory).ifPresent(HoldConflict::refuse);
            });
            LOG.atInfo().addKeyValue(LogField.CLAIM, ref).log("Claim prepared");
            if (isFirst) { // after a reboot, a claim has not waited since it was created
                measureLatency(claim);
            }
            return results;
        } catch (Exception | Error e) { // a provider may throw anything: what was begun is undone
            DraException failure = ProviderCalls.failure("could not prepare the claim", e);
            undo(lifecycle, failure);
            throw failure;
        }
    }

    /** Two clocks may differ: a claim is never prepared before it was created. */
    private void measureLatency(AllocatedClaim claim) {
        ClaimCodec.createdAt(claim.rawJson())
                .map(created -> Duration.between(created, context.clock().instant()))
                .map(took -> took.isNegative() ? Duration.ZERO : took)
                .ifPresent(took -> claim.devices().stream()
                        .map(AllocatedDevice::deviceClass)
                        .filter(Objects::nonNull)
                        .distinct()
                        .forEach(name -> context.meters().time(Metric.CLAIM_LATENCY, took, name)));
    }

    private static void undo(ClaimLifecycle lifecycle, DraException cause) {
        try {
            lifecycle
                    .failed()
                    .ifPresentOrElse(started -> Unpreparation.unprepare(lifecycle, started), lifecycle::removeFiles);
        } catch (DraException e) {
            cause.addSuppressed(e); // the claim stays held; the kubelet's next call tries again
        }
    }

    private static PrepareOutcome refused(ClaimRef ref, DraException e) {
        LOG.atWarn().addKeyValue(LogField.CLAIM, ref).log("Claim not prepared: {}", e.getMessage(), e);
        return new PrepareOutcome.Failed(e.getMessage());
    }

    /**
     * Claims whose devices are no longer in use, though the journal holds them: after a crash, from an earlier boot,
     * after an unprepare that failed, or because the kubelet skips it.
     *
     * <p>They are unprepared before another claim takes one of their devices, each under its own lock, except those
     * with a running operation. An unprepare that takes long continues, and the other claim is refused. A damaged claim
     * of this boot is not among them: its containers may run. A prepared claim is, if the kubelet has forgotten it, and
     * the API server has given its devices away. Thread-safe.
     */
    private static final class StaleClaims {

        private static final Logger LOG = LoggerFactory.getLogger(StaleClaims.class);

        private final ClaimParts context;
        private final ClaimQueue queue;
        private final DeviceHolds holds;
        private final Unpreparation unpreparation;
        private final PresentAllocations present;
        private final KubeletClaims kubelet;
        private final Consumer<String> inTheWay;

        StaleClaims(
                ClaimParts context,
                ClaimQueue queue,
                DeviceHolds holds,
                Unpreparation unpreparation,
                Consumer<String> inTheWay) {
            this.context = context;
            this.queue = queue;
            this.holds = holds;
            this.unpreparation = unpreparation;
            this.present = new PresentAllocations(context);
            this.kubelet = new KubeletClaims(context.dataDirectory());
            this.inTheWay = inTheWay;
        }

        /** Unprepares the stale claims that hold devices that a claim wants. */
        void unprepareConflicting(ClaimRef ref, List<HeldDevice> devices, Deadline deadline) {
            if (context.journal().unsettled().stream()
                    .filter(record -> isStale(record) || record.isUnprepareSkipped())
                    .anyMatch(record -> queue.isIdle(record.ref().uid()))) { // the others stay
                unprepareHolders(
                        ref,
                        devices,
                        deadline,
                        "stale, and another claim wants one of its devices",
                        () -> holder -> isStale(holder) || isOver(holder, deadline));
            }
        }

        /**
         * Unprepares the claims of this boot that hold devices that a claim wants, though the kubelet has forgotten
         * them and they are over.
         *
         * @return whether any was unprepared
         * @throws ClusterException if the API server does not answer about a forgotten claim
         */
        boolean unprepareForgotten(ClaimRef ref, List<HeldDevice> devices, Deadline deadline) {
            return unprepareHolders(
                    ref,
                    devices,
                    deadline,
                    "the kubelet has forgotten it, and another claim was allocated one of its devices",
                    () -> forgottenAndOver(deadline));
        }

        private boolean unprepareHolders(
                ClaimRef ref,
                List<HeldDevice> devices,
                Deadline deadline,
                String why,
                Supplier<Predicate<ClaimRecord>> isToGo) {
            boolean isAnyGone = false;
            Set<String> tried = new HashSet<>();
            Optional<ClaimRecord> next = holder(ref, devices, tried, isToGo);
            while (next.isPresent()) {
                ClaimRecord found = next.get();
                String uid = found.ref().uid();
                tried.add(uid);
                isAnyGone |= unpreparation.unprepareIfIdle(
                        uid,
                        why,
                        now -> isStale(now) || now.equals(found) && (now.isUnprepareSkipped() || isForgotten(now)),
                        deadline,
                        third(deadline));
                next = holder(ref, devices, tried, isToGo);
            }
            return isAnyGone;
        }

        private Optional<ClaimRecord> holder(
                ClaimRef ref, List<HeldDevice> devices, Set<String> tried, Supplier<Predicate<ClaimRecord>> isToGo) {
            return holds
                    .conflict(
                            ref.uid(),
                            devices,
                            ClaimIndex.of(context.journal().claims()),
                            context.inventory().get().orElse(Inventory.of()))
                    .stream()
                    .flatMap(conflict -> conflict.holders().stream()
                            .filter(holder -> !tried.contains(holder.ref().uid()))
                            .filter(isToGo.get()))
                    .findFirst();
        }

        private static Duration third(Deadline deadline) {
            return deadline.left().dividedBy(3);
        }

        /** The kubelet names a claim before it asks for it: none that is prepared again is forgotten. */
        private boolean isForgotten(ClaimRecord record) {
            return context.isPrepared(record)
                    && context.providerCalls()
                            .apart(() -> kubelet.lacks(record.ref().uid()));
        }

        /** Returns which claims are forgotten and over, with a single read of the kubelet's file: holders may be many. */
        private Predicate<ClaimRecord> forgottenAndOver(Deadline deadline) {
            Predicate<String> isLacking = context.providerCalls().apart(kubelet::lacking);
            return holder -> {
                String uid = holder.ref().uid();
                if (context.isPrepared(holder) && isLacking.test(uid)) {
                    return present.isOver(holder, third(deadline));
                }
                inTheWay.accept(uid);
                return false;
            };
        }

        /** A claim that the kubelet asks to unprepare is over once the kubelet has asked. */
        private boolean isOver(ClaimRecord record, Deadline deadline) {
            try {
                return record.isUnprepareSkipped() && present.isOver(record, third(deadline));
            } catch (ClusterException e) {
                LOG.atDebug()
                        .addKeyValue(LogField.CLAIM, record.ref())
                        .setCause(e)
                        .log("Could not check whether the claim is finished");
                return false;
            }
        }

        private boolean isStale(ClaimRecord record) {
            return !context.isOfThisBoot(record)
                    || record.phase() == Phase.PREPARING
                    || record.phase() == Phase.UNPREPARING;
        }
    }
}
