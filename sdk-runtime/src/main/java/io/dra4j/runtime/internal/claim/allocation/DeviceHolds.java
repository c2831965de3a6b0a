// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.rules.OwnNames;
import io.dra4j.runtime.internal.checkpoint.ClaimIndex;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.allocation.DeviceHolds.Budget.Amount;
import io.dra4j.runtime.internal.pins.PooledDevice;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Refuses a device that another claim holds: the last line of defence against one device for two workloads.
 *
 * <p>It keeps no separate list: it checks against the journal's committed claims, so that two processes of the driver
 * can't disagree. A device may be held by several claims if the API allows it: shares of it, each with its own share id
 * and all of them within the device's capacities, or admin access, which neither waits for other claims nor keeps them
 * waiting. Devices that overlap in the pool's counters may not be held at the same time. Hardware is held, and takes of
 * counters, under any name that it has now. Thread-safe.
 */
public final class DeviceHolds {

    private KnownDevices known; // guarded by this

    /**
     * Starts without devices.
     *
     * @param driver the name whose domain may be omitted in names of capacities
     */
    public DeviceHolds(String driver) {
        this.known = KnownDevices.none(driver);
    }

    /**
     * Returns the conflict that keeps a claim from getting devices; empty if there isn't one.
     *
     * @param uid the claim's own UID: its own devices do not conflict
     * @param committed the claims that the journal has committed
     * @throws PrepareException if the devices are not available, though no other claim holds them
     */
    public Optional<HoldConflict> conflict(
            String uid, List<HeldDevice> devices, ClaimIndex committed, Inventory inventory) {
        List<HeldDevice> wanted = devices.stream().filter(d -> !d.adminAccess()).toList();
        Set<PooledDevice> keys = new LinkedHashSet<>();
        wanted.forEach(device -> keys.add(PooledDevice.of(device)));
        Set<ClaimRecord> holders = new LinkedHashSet<>();
        keys.forEach(key -> holders.addAll(committed.holding(key.device())));
        List<Hold> same = holds(uid, holders, held -> keys.contains(PooledDevice.of(held)));
        KnownDevices now = known(inventory, committed.all());
        return wanted.stream()
                .flatMap(device -> exclusive(device, same).stream())
                .findFirst()
                .or(() -> moved(uid, wanted, committed, now))
                .or(() -> budget(uid, wanted, keys, same, committed.all(), now));
    }

    /** Returns who holds hardware that is wanted by a name that it had: a claim may keep it longer than the name is pinned. */
    private static Optional<HoldConflict> moved(
            String uid, List<HeldDevice> wanted, ClaimIndex committed, KnownDevices known) {
        for (HeldDevice device : wanted) {
            PooledDevice key = PooledDevice.of(device);
            String id = known.hardware(key).orElse("");
            List<ClaimRecord> holders = holds(uid, committed.holding(id), held -> id.equals(held.physicalId())).stream()
                    .filter(hold -> !hold.key.equals(key))
                    .map(Hold::claim)
                    .toList();
            if (!holders.isEmpty()) {
                return Optional.of(new HoldConflict("device " + key + ", which had another name, is held", holders));
            }
        }
        return Optional.empty();
    }

    private synchronized KnownDevices known(Inventory inventory, Collection<ClaimRecord> committed) {
        known = known.with(inventory, committed);
        return known;
    }

    private static List<Hold> holds(String uid, Collection<ClaimRecord> committed, Predicate<HeldDevice> of) {
        List<Hold> holds = new ArrayList<>();
        for (ClaimRecord claim : committed) {
            for (HeldDevice device : claim.devices()) {
                if (!device.adminAccess()
                        && of.test(device)
                        && !claim.ref().uid().equals(uid)) {
                    holds.add(new Hold(claim, PooledDevice.of(device), device));
                }
            }
        }
        return holds;
    }

    private static Optional<HoldConflict> exclusive(HeldDevice wanted, List<Hold> same) {
        List<ClaimRecord> holders =
                same.stream().filter(h -> h.excludes(wanted)).map(Hold::claim).toList();
        return holders.isEmpty()
                ? Optional.empty()
                : Optional.of(new HoldConflict("device " + PooledDevice.of(wanted) + " is held", holders));
    }

    private static Optional<HoldConflict> budget(
            String uid,
            List<HeldDevice> wanted,
            Set<PooledDevice> keys,
            List<Hold> same,
            Collection<ClaimRecord> committed,
            KnownDevices known) {
        Budget budget = new Budget();
        for (Hold share : same) {
            known.shares(share.device).forEach(a -> budget.hold(List.of(share.claim), a));
        }
        overlapping(uid, keys, committed, known)
                .forEach((key, claims) -> known.counters(key).forEach(a -> budget.hold(claims, a)));

        Map<PooledDevice, List<Amount>> amounts = new LinkedHashMap<>();
        keys.forEach(key -> amounts.put(key, known.counters(key)));
        wanted.forEach(share -> amounts.get(PooledDevice.of(share)).addAll(known.shares(share)));
        return amounts.entrySet().stream()
                .flatMap(one -> one.getValue().stream().map(a -> budget.take(one.getKey(), a)))
                .flatMap(Optional::stream)
                .findFirst();
    }

    /** Returns who else holds other devices of the same pools; holders of a wanted device share it. */
    private static Map<PooledDevice, List<ClaimRecord>> overlapping(
            String uid, Set<PooledDevice> wanted, Collection<ClaimRecord> committed, KnownDevices known) {
        List<PooledDevice> counted = wanted.stream().filter(known::hasCounters).toList();
        Map<PooledDevice, List<ClaimRecord>> holders = new LinkedHashMap<>();
        if (!counted.isEmpty()) {
            Set<PoolName> pools = new HashSet<>();
            counted.forEach(key -> pools.add(key.pool()));
            List<Hold> others = holds(
                    uid, committed, held -> pools.contains(held.pool()) && !wanted.contains(PooledDevice.of(held)));
            for (Hold hold : others) {
                known.present(hold.device)
                        .ifPresent(key -> holders.computeIfAbsent(key, k -> new ArrayList<>())
                                .add(hold.claim));
            }
        }
        return holders;
    }

    private record Hold(ClaimRecord claim, PooledDevice key, HeldDevice device) {

        boolean excludes(HeldDevice wanted) {
            return device.pool().equals(wanted.pool())
                    && device.device().equals(wanted.device())
                    && (device.shareId() == null
                            || wanted.shareId() == null
                            || device.shareId().equals(wanted.shareId()));
        }
    }

    /**
     * The capacities, counters and hardware of the inventory's devices, and of those that left it while held.
     *
     * <p>The last known form of such a device is kept; after a restart it is unknown, and the device consumes nothing.
     * Immutable.
     */
    private record KnownDevices(OwnNames names, Inventory inventory, Map<PooledDevice, Device> devices) {

        /** Returns what is known about a driver's devices before the first inventory: nothing. */
        static KnownDevices none(String driver) {
            return new KnownDevices(new OwnNames(driver), Inventory.of(), Map.of());
        }

        /** Returns what is known with a later inventory; this object, if it is the same. */
        KnownDevices with(Inventory later, Collection<ClaimRecord> committed) {
            if (later == inventory) {
                return this;
            }
            Set<PooledDevice> held = new HashSet<>();
            committed.forEach(claim -> claim.devices().forEach(one -> held.add(PooledDevice.of(one))));
            Map<PooledDevice, Device> known = new HashMap<>(devices);
            known.keySet().retainAll(held);
            for (Pool pool : later.pools()) {
                for (Device device : pool.devices()) {
                    known.put(new PooledDevice(pool.name(), device.name()), device);
                }
            }
            return new KnownDevices(names, later, known);
        }

        Optional<String> hardware(PooledDevice key) {
            return Optional.ofNullable(devices.get(key)).map(Device::physicalId);
        }

        /** Returns a held device by the name that its hardware has now; empty if it is gone. */
        Optional<PooledDevice> present(HeldDevice held) {
            PooledDevice key = PooledDevice.of(held);
            String id = held.physicalId();
            Optional<String> named = hardware(key);
            if (id == null || named.filter(id::equals).isPresent()) {
                return Optional.of(key);
            }
            return devices.keySet().stream()
                    .filter(other -> other.pool().equals(key.pool())
                            && hardware(other).filter(id::equals).isPresent())
                    .findFirst()
                    .or(() -> named.isEmpty() ? Optional.of(key) : Optional.empty());
        }

        /** Returns whether devices of a pool may overlap. */
        boolean hasCounters(PooledDevice key) {
            return inventory
                    .pool(key.pool())
                    .filter(p -> !p.counterSets().isEmpty())
                    .isPresent();
        }

        /** Returns the amounts of its pool's counters that a device takes. */
        List<Amount> counters(PooledDevice key) {
            List<Amount> amounts = new ArrayList<>();
            Device device = devices.get(key);
            if (device == null) {
                return amounts;
            }
            for (CounterConsumption set : device.consumesCounters()) {
                set.counters().forEach((name, amount) -> amounts.add(counter(key, set.counterSet(), name, amount)));
            }
            return amounts;
        }

        private Amount counter(PooledDevice key, String set, String name, Quantity amount) {
            Quantity total = inventory.pool(key.pool()).stream()
                    .flatMap(pool -> pool.counterSets().stream())
                    .filter(candidate -> candidate.name().equals(set))
                    .map(CounterSet::counters)
                    .map(counters -> counters.get(name))
                    .findFirst()
                    .orElse(null);
            return new Amount("counter " + name + " in counter set " + set + " of pool " + key.pool(), amount, total);
        }

        /** Returns the amounts of its device's capacities that a share takes. */
        List<Amount> shares(HeldDevice share) {
            PooledDevice key = PooledDevice.of(share);
            Device device = devices.get(key);
            return share.consumedCapacity().entrySet().stream()
                    .map(one -> new Amount(
                            "capacity " + names.bare(one.getKey()) + " of device " + key,
                            one.getValue(),
                            capacity(device, one.getKey())))
                    .toList();
        }

        private @Nullable Quantity capacity(@Nullable Device device, String name) {
            return device == null
                    ? null
                    : names.find(device.capacities(), name).map(Capacity::value).orElse(null);
        }
    }

    /**
     * Adds up claims' consumption of limited amounts: the counters of a pool, the capacities of a shared device.
     *
     * <p>Not thread-safe.
     */
    static final class Budget {

        private final Map<String, Use> uses = new HashMap<>();

        /**
         * An amount that a device consumes from a limited total.
         *
         * @param item names what is limited
         * @param total the total; {@code null} if unknown, and then it is not limited
         */
        record Amount(
                String item, Quantity amount, @Nullable Quantity total) {}

        /** Counts what claims already hold together. */
        void hold(Collection<ClaimRecord> claims, Amount held) {
            Use use = uses.computeIfAbsent(held.item, key -> new Use());
            use.sum = use.sum.add(held.amount.amount());
            claims.forEach(claim -> use.holders.put(claim.ref().uid(), claim));
        }

        /**
         * Counts what the claim in question wants.
         *
         * @return the claims that hold the missing amount, or empty if enough is free
         * @throws PrepareException if the total would not suffice even without other claims
         */
        Optional<HoldConflict> take(PooledDevice device, Amount wanted) {
            Use use = uses.computeIfAbsent(wanted.item, key -> new Use());
            BigDecimal sum = use.sum.add(wanted.amount.amount());
            if (wanted.total == null
                    || wanted.amount.amount().signum() <= 0
                    || sum.compareTo(wanted.total.amount()) <= 0) {
                use.sum = sum;
                return Optional.empty();
            }
            String problem = "device %s takes %s of %s, which has %s"
                    .formatted(device, wanted.amount, wanted.item, wanted.total);
            if (use.holders.isEmpty()) {
                throw new PrepareException(problem + "; the claim takes more than there is");
            }
            return Optional.of(new HoldConflict(
                    problem + ", and " + use.sum.toPlainString() + " of it is held",
                    List.copyOf(use.holders.values())));
        }

        private static final class Use {
            private final Map<String, ClaimRecord> holders = new LinkedHashMap<>();
            private BigDecimal sum = BigDecimal.ZERO;
        }
    }

    /**
     * The reason why a claim can't have a device, and the claims that hold it.
     *
     * @param problem a sentence for the owner of a pod; it names no claim
     * @param holders the conflicting claims
     */
    public record HoldConflict(String problem, List<ClaimRecord> holders) {

        public HoldConflict {
            holders = List.copyOf(holders);
        }

        /**
         * Refuses the claim.
         *
         * @throws PrepareException always: the message for the owner of the pod names no other claim,
         *     and the cause, for the log, names them all
         */
        public void refuse() {
            String others = holders.stream()
                    .map(holder -> anonymous(holder.ref().uid()))
                    .collect(Collectors.joining(", "));
            String names = holders.stream()
                    .map(holder -> holder.ref() + " " + holder.phase())
                    .collect(Collectors.joining(", "));
            throw new PrepareException(
                    problem + " by " + others + "; it is free once that claim is unprepared",
                    new DraException("Held by " + names));
        }

        /** Names a claim to users who may not see it: just enough to find it in the log. */
        private static String anonymous(String uid) {
            return "another claim (UID " + uid.substring(0, Math.min(8, uid.length())) + "…)";
        }
    }
}
