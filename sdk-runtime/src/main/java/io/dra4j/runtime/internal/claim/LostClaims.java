// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.JournalLoss;
import io.dra4j.runtime.internal.claim.allocation.Allocations;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.LogField;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the claims that a damaged journal lost, and holds them as damaged.
 *
 * <p>A damaged claim keeps its devices from others until it is unprepared, and never counts as prepared. Claims that
 * the journal can't name are found through CDI specs without a record, and through the API server's claims with devices
 * of this node; these also show which devices a damaged claim may have besides those of its last intact record. Until a
 * damaged record, or an incomplete journal, has been compared with them, no claim can be prepared, because it is
 * unknown which devices are free. This applies whenever damage is found: at a start, or later, by another process. A
 * restart compares again. Thread-safe.
 */
final class LostClaims {

    private static final Logger LOG = LoggerFactory.getLogger(LostClaims.class);
    private static final String UNKNOWN = "unknown";

    private final ClaimParts context;
    private final Journal journal;
    private final Allocations allocations;
    private final ReentrantLock comparing = new ReentrantLock(); // held while claims are compared
    private volatile Set<ClaimRecord> compared = Set.of(); // damaged ones, as they are since then
    private final Set<String> unprepared = ConcurrentHashMap.newKeySet(); // since a claim was prepared
    private volatile boolean specsNameLost; // of claims that the journal lost
    private volatile @Nullable JournalLoss reported;

    LostClaims(ClaimParts context) {
        this.context = context;
        this.journal = context.journal();
        this.allocations = new Allocations(context.driver(), List.of());
    }

    /** Holds as damaged a claim that only a CDI spec names; called with the claim's lock held. */
    void holdForSpec(String uid) {
        specsNameLost = true;
        hold(nameless(uid, named(uid, inventory().orElse(Inventory.of()))));
    }

    /**
     * Notes that a claim was unprepared, with its lock held: until its pod is gone, it looks like a lost one. Claims that
     * another process unprepared, or this one before a restart, are not known.
     */
    void unprepared(String uid) {
        unprepared.add(uid);
    }

    private Optional<Inventory> inventory() {
        return context.inventory().get();
    }

    private List<HeldDevice> named(String uid, Inventory inventory) {
        return DamagedDevices.named(uid, context.specs().deviceNames(uid), inventory);
    }

    private void hold(ClaimRecord damaged) {
        journal.put(damaged);
        LOG.atWarn()
                .addKeyValue(LogField.CLAIM, damaged.ref())
                .addKeyValue(LogField.DEVICE_COUNT, damaged.devices().size())
                .log("A claim's record is lost; it is held as damaged until it is unprepared");
    }

    /** Reports losses, if any, to the cluster's admins. */
    void report() {
        boolean isDue = isDue();
        JournalLoss loss = journal.loss();
        reported = loss;
        if (loss.damagedLines() == 0 && loss.complete() && !specsNameLost) {
            return;
        }
        long held = journal.claims().stream().filter(LostClaims::isDamaged).count();
        String message = "Journal corrupted: %s lines damaged or missing; %s claims are held as damaged until"
                + " they are unprepared, and their devices refused to others%s";
        String next = isDue ? "; claims are prepared again when the journal has been compared with the API server" : "";
        context.events()
                .record(new DriverEvent(
                        Reason.JOURNAL_DAMAGED, "journal", message.formatted(loss.damagedLines(), held, next)));
    }

    /**
     * Ensures that all lost claims are held.
     *
     * @throws DraException if the API server's claims could not be compared by the deadline
     */
    void requireFound(Deadline deadline) {
        if (!isDue()) {
            unprepared.clear();
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
            if (isDue()) {
                compare(deadline);
            }
        } catch (ClusterException e) {
            throw notYet(e);
        } finally {
            comparing.unlock();
        }
    }

    /** Reads the journal first: it shows damage that another process found. */
    private boolean isDue() {
        return !uncompared().isEmpty() || specsNameLost || !journal.loss().complete();
    }

    private List<ClaimRecord> uncompared() {
        return journal.unsettled().stream()
                .filter(record -> isDamaged(record) && !compared.contains(record))
                .toList();
    }

    private boolean mayLackClaims() {
        return uncompared().stream().anyMatch(record -> isNameless(record.ref()))
                || specsNameLost
                || !journal.loss().complete();
    }

    private static DraException notYet(@Nullable ClusterException why) {
        return new DraException(
                "the driver's journal was damaged, and has yet to be compared with the API"
                        + " server's claims, which requires permission to list them"
                        + (why == null ? "" : ": " + why.getMessage()),
                why);
    }

    private void compare(Deadline deadline) {
        if (!journal.loss().equals(reported)) {
            report();
        }
        Inventory inventory = context.requireInventory();
        Comparison comparison = new Comparison(inventory, mayLackClaims());
        suspects(inventory, deadline).values().forEach(comparison::judge);
        if (!comparison.isWhole) {
            throw notYet(null);
        }
        if (!journal.loss().complete() && comparison.mayLackClaims) {
            journal.foundAll();
        }
        specsNameLost = false;
        unprepared.clear();
        compared = Set.copyOf(comparison.damaged);
        LOG.info("The journal was compared with the API server's claims");
    }

    /** Returns, by UID, the damaged claims, and those with devices of this node according to the API. */
    private Map<String, Suspect> suspects(Inventory inventory, Deadline deadline) {
        Map<String, Suspect> suspects = new LinkedHashMap<>();
        for (ClaimRecord record : journal.claims()) {
            if (isDamaged(record)) {
                suspects.put(record.ref().uid(), new Suspect(record.ref(), List.of()));
            }
        }
        context.reader().readAll(deadline.left(), (ref, claim) -> {
            List<HeldDevice> here = here(ref, claim, inventory);
            if (!here.isEmpty()) {
                suspects.put(ref.uid(), new Suspect(ref, here));
            }
        });
        return suspects;
    }

    private List<HeldDevice> here(ClaimRef ref, ClaimObject object, Inventory inventory) {
        if (!allocations.isAllocated(object) || allocations.skipsPrepare(object)) {
            return List.of(); // what is never prepared can't be lost
        }
        return allocations.devices(ref, object).stream()
                .filter(device ->
                        inventory.pool(device.pool()).filter(this::isHere).isPresent())
                .toList();
    }

    private boolean isHere(Pool pool) {
        return !(pool.placement() instanceof Placement.PublishedElsewhere);
    }

    /** A claim that may be lost, and its devices of this node according to the API. */
    private record Suspect(ClaimRef ref, List<HeldDevice> allocated) {}

    /** One pass through all suspects. */
    private final class Comparison {
        private final Inventory inventory;
        private final boolean mayLackClaims;
        private final Set<ClaimRecord> damaged = new HashSet<>();
        private boolean isWhole = true;

        Comparison(Inventory inventory, boolean mayLackClaims) {
            this.inventory = inventory;
            this.mayLackClaims = mayLackClaims;
        }

        void judge(Suspect suspect) {
            String uid = suspect.ref.uid();
            if (journal.claim(uid).filter(record -> !isDamaged(record)).isPresent()) {
                return; // intact
            }
            try (ClaimLifecycle lifecycle =
                    ClaimLifecycle.takeIfFree(context, uid).orElse(null)) {
                if (lifecycle == null) {
                    isWhole = false; // the operation may merely read it, and the claim may be lost
                    return;
                }
                Optional<ClaimRecord> record = lifecycle.record();
                if (record.isPresent()) {
                    record.filter(LostClaims::isDamaged).ifPresent(now -> widen(now, suspect));
                } else if (mayLackClaims && !suspect.allocated.isEmpty() && !unprepared.contains(uid)) {
                    widen(nameless(uid, List.of()), suspect);
                }
            }
        }

        private void widen(ClaimRecord record, Suspect suspect) {
            List<HeldDevice> devices =
                    DamagedDevices.all(suspect.allocated, record.devices(), named(suspect.ref.uid(), inventory));
            ClaimRecord all = ClaimRecord.damaged(suspect.ref, record.bootId(), devices);
            if (!journal.claim(suspect.ref.uid()).equals(Optional.of(all))) {
                hold(all);
            }
            damaged.add(all);
        }
    }

    /** Refuses a claim whose own write finds that the journal lost some. */
    void requireNoneLost() {
        if (!journal.loss().complete()) {
            throw notYet(null);
        }
    }

    /**
     * Returns the record of a claim that the journal does not know, if it may have lost it: a
     * provider then undoes what it finds of the claim. Needs no comparison, and no API server.
     */
    Optional<ClaimRecord> possible(String uid) {
        boolean mayBeLost = !journal.loss().complete()
                || journal.unsettled().stream().anyMatch(r -> isDamaged(r) && isNameless(r.ref()));
        return mayBeLost && ClaimRef.isUid(uid) ? Optional.of(nameless(uid, List.of())) : Optional.empty();
    }

    private ClaimRecord nameless(String uid, List<HeldDevice> devices) {
        return nameless(uid, journal.bootId(), devices);
    }

    /** Returns the record of a claim of which the UID is known, and maybe devices. */
    static ClaimRecord nameless(String uid, String bootId, List<HeldDevice> devices) {
        return ClaimRecord.damaged(new ClaimRef(UNKNOWN, UNKNOWN, uid), bootId, devices);
    }

    private static boolean isDamaged(ClaimRecord record) {
        return record.phase() == Phase.DAMAGED;
    }

    /** Returns whether only the UID of a claim is known. */
    static boolean isNameless(ClaimRef ref) {
        return ref.namespace().equals(UNKNOWN) && ref.name().equals(UNKNOWN);
    }

    /**
     * The devices that a claim with a damaged record may hold: all that are known.
     *
     * <p>Its last intact record may be older than what the claim held last, its object in the API may be newer, and its
     * CDI spec does not name pools: it is safer to refuse others one device too many than one too few. Pure.
     */
    static final class DamagedDevices {

        private static final Pattern SUFFIX = Pattern.compile("(?:-([0-9a-f-]{36}))?(?:\\.[0-9]+)?");

        private DamagedDevices() {}

        /**
         * Returns all devices, each share once.
         *
         * @param allocated the devices according to the API
         * @param recorded the devices of the last intact record
         * @param named the devices of the CDI spec, which does not show admin access
         */
        public static List<HeldDevice> all(
                List<HeldDevice> allocated, List<HeldDevice> recorded, List<HeldDevice> named) {
            List<HeldDevice> all = new ArrayList<>();
            allocated.forEach(device -> all.add(identified(device, recorded)));
            add(recorded, all, DamagedDevices::isSameUse);
            add(named, all, DamagedDevices::isSameShare);
            return List.copyOf(all);
        }

        /** The API does not have the physical id that the record has. */
        private static HeldDevice identified(HeldDevice device, List<HeldDevice> recorded) {
            return recorded.stream()
                    .filter(known -> isSameUse(known, device))
                    .findFirst()
                    .map(known ->
                            device.toBuilder().physicalId(known.physicalId()).build())
                    .orElse(device);
        }

        private static boolean isSameUse(HeldDevice one, HeldDevice other) {
            return isSameShare(one, other) && one.adminAccess() == other.adminAccess();
        }

        private static void add(
                List<HeldDevice> more, List<HeldDevice> all, BiPredicate<HeldDevice, HeldDevice> isSame) {
            for (HeldDevice device : more) {
                if (all.stream().noneMatch(known -> isSame.test(known, device))) {
                    all.add(device);
                }
            }
        }

        private static boolean isSameShare(HeldDevice one, HeldDevice other) {
            return one.pool().equals(other.pool())
                    && one.device().equals(other.device())
                    && Objects.equals(one.shareId(), other.shareId());
        }

        /**
         * Returns the devices that the names in a CDI spec may mean: {@code <uid>-<device>[-<share id>]}.
         *
         * <p>A name does not contain the pool, and it may be read in two ways: then all that fit are returned, because
         * refusing others one device too many is safer than one too few.
         */
        public static List<HeldDevice> named(String uid, List<String> names, Inventory inventory) {
            List<HeldDevice> devices = new ArrayList<>();
            for (Pool pool : inventory.pools()) {
                for (Device device : pool.devices()) {
                    String start = uid + "-" + device.name();
                    for (String name : names) {
                        if (name.startsWith(start)) {
                            Matcher rest = SUFFIX.matcher(name.substring(start.length()));
                            if (rest.matches()) {
                                devices.add(held(pool, device, rest.group(1)));
                            }
                        }
                    }
                }
            }
            return devices;
        }

        private static HeldDevice held(Pool pool, Device device, @Nullable String shareId) {
            return HeldDevice.builder("unknown", pool.name(), device.name())
                    .shareId(shareId)
                    .build();
        }
    }
}
