// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.Loss;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.observe.Notice;
import io.dra4j.runtime.internal.observe.Notice.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the claims that a damaged journal lost, and holds them as damaged.
 *
 * <p>A damaged claim keeps its devices from others until it is unprepared, and never counts as
 * prepared. What the journal itself can't name is told by CDI specs without a record, and by the
 * API server's claims with devices of this node; as long as those have not been compared, no claim
 * can be prepared, because nobody knows which devices are free. A restart does not forget that a
 * comparison is due. Thread-safe.
 */
final class LostClaims {

    private static final Logger LOG = LoggerFactory.getLogger(ClaimPreparation.class);
    private static final String UNKNOWN = "unknown";

    private final ClaimPreparation.Parts parts;
    private final Journal journal;
    private final ClaimLife.Lives lives;
    private final Allocations allocations;
    private final ReentrantLock comparing = new ReentrantLock(); // held while claims are compared
    private volatile boolean mayLackClaims;
    private volatile boolean compared = true;

    LostClaims(ClaimPreparation.Parts parts, ClaimLife.Lives lives) {
        this.parts = parts;
        this.journal = parts.journal();
        this.lives = lives;
        this.allocations = new Allocations(parts.driver(), List.of());
    }

    /** Learns from the journal what is lost. */
    void takeUp() {
        List<ClaimRecord> damaged =
                journal.claims().stream().filter(LostClaims::isDamaged).toList();
        mayLackClaims =
                !journal.loss().complete()
                        || damaged.stream().anyMatch(record -> isNameless(record.ref()));
        compared = !mayLackClaims && damaged.stream().noneMatch(LostClaims::isVague);
    }

    /** Holds a claim as damaged that only a CDI spec speaks of; to be called with its lock. */
    void holdForSpec(String uid) {
        mayLackClaims = true;
        compared = false;
        hold(
                new ClaimRef(UNKNOWN, UNKNOWN, uid),
                SpecNames.devices(
                        uid,
                        parts.specs().deviceNames(uid),
                        parts.inventory().get().orElse(Inventory.of())));
    }

    private void hold(ClaimRef ref, List<HeldDevice> devices) {
        journal.put(new ClaimRecord(ref, Phase.DAMAGED, journal.bootId(), devices, null, null));
        LOG.atWarn()
                .addKeyValue(LogField.CLAIM.toString(), ref)
                .addKeyValue(LogField.DEVICE_COUNT.toString(), devices.size())
                .log("A claim's record is lost; it is held as damaged until it is unprepared");
    }

    /** Tells the cluster's admins what is lost, if anything is. */
    void tell() {
        Loss loss = journal.loss();
        if (loss.damagedLines() == 0 && loss.complete() && !mayLackClaims) {
            return;
        }
        long held = journal.claims().stream().filter(LostClaims::isDamaged).count();
        parts.notices()
                .take(
                        new Notice(
                                Reason.JOURNAL_DAMAGED,
                                "journal",
                                loss.damagedLines()
                                        + " lines of the journal of claims are damaged or gone; "
                                        + held
                                        + " claims are held as damaged, and their devices refused"
                                        + " to others until they are unprepared"
                                        + (compared
                                                ? ""
                                                : "; claims are prepared again when the journal was"
                                                        + " compared with the API server")));
    }

    /**
     * Sees to it that all lost claims are held.
     *
     * @throws DraException if the API server's claims could not be compared by the deadline
     */
    void requireFound(Deadline deadline) {
        if (compared) {
            return;
        }
        try {
            if (!comparing.tryLock(deadline.left().toNanos(), TimeUnit.NANOSECONDS)) {
                throw notYet(null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw notYet(null);
        }
        try {
            if (!compared) {
                compare(deadline);
            }
        } catch (ClusterException e) {
            throw notYet(e);
        } finally {
            comparing.unlock();
        }
    }

    private static DraException notYet(@Nullable ClusterException why) {
        return new DraException(
                "the driver's journal was damaged, and is still to be compared with the API"
                        + " server's claims, which takes the right to list them"
                        + (why == null ? "" : ": " + why.getMessage()),
                why);
    }

    private void compare(Deadline deadline) {
        Inventory inventory =
                parts.inventory()
                        .get()
                        .orElseThrow(
                                () ->
                                        new PrepareException(
                                                "the driver could not read its devices yet"));
        Map<ClaimRef, ClaimObject> claims = parts.reader().readAll(deadline.left());
        claims.forEach(
                (ref, object) -> {
                    List<HeldDevice> here = here(ref, object, inventory);
                    if (!here.isEmpty()) {
                        holdIfLost(ref, here);
                    }
                });
        journal.foundAll();
        mayLackClaims = false;
        compared = true;
        LOG.atInfo()
                .addKeyValue(LogField.CLAIM_COUNT.toString(), claims.size())
                .log("The journal was compared with the API server's claims");
    }

    private List<HeldDevice> here(ClaimRef ref, ClaimObject object, Inventory inventory) {
        if (!allocations.isAllocated(object)) {
            return List.of();
        }
        return allocations.devices(ref, object).stream()
                .filter(
                        device ->
                                inventory
                                        .pool(device.pool())
                                        .filter(
                                                pool ->
                                                        !(pool.placement()
                                                                instanceof
                                                                Placement.PublishedElsewhere))
                                        .isPresent())
                .toList();
    }

    private void holdIfLost(ClaimRef ref, List<HeldDevice> devices) {
        try (ClaimLife life =
                lives.takeIfFree(ref.uid(), Deadline.in(Duration.ZERO, parts.clock()))) {
            boolean isLost = life.record().map(LostClaims::isVague).orElse(mayLackClaims);
            if (isLost) {
                hold(ref, devices);
            }
        } catch (ClaimLife.Busy e) {
            LOG.atDebug().addKeyValue(LogField.CLAIM.toString(), ref).log("Left to its call");
        }
    }

    private static boolean isDamaged(ClaimRecord record) {
        return record.phase() == Phase.DAMAGED;
    }

    /**
     * Says whether it is not known which devices a record is about, or which name its claim has.
     */
    static boolean isVague(ClaimRecord record) {
        return isDamaged(record) && (record.devices().isEmpty() || isNameless(record.ref()));
    }

    /** Says whether a claim is known by its UID alone. */
    static boolean isNameless(ClaimRef ref) {
        return ref.namespace().equals(UNKNOWN) && ref.name().equals(UNKNOWN);
    }
}
