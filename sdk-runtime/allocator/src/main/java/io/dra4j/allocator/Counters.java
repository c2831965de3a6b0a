// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.Behaviour.Trait;
import io.dra4j.allocator.model.CounterSet;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.Slice;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The counters of pools that devices consume, for allocated claims and for this search. */
final class Counters {

    private record Counter(String set, String name) {}

    /** The counters of one pool: the amounts that claims left, and those that this search consumes. */
    private record Ledger(
            Map<Counter, Quantity> available, Map<Counter, List<Holder>> consumers, Map<Counter, BigDecimal> consumed) {

        Ledger() {
            this(new LinkedHashMap<>(), new HashMap<>(), new HashMap<>());
        }

        private void subtract(Device device, List<Holder> holders) {
            for (CounterSet set : device.consumes()) {
                set.counters().forEach((name, amount) -> {
                    Counter counter = new Counter(set.name(), name);
                    available.computeIfPresent(counter, (key, left) -> left.minus(amount));
                    consumers.computeIfAbsent(counter, key -> new ArrayList<>()).addAll(holders);
                });
            }
        }
    }

    private final Behaviour behaviour;
    private final ClusterState cluster;
    private final Map<Object, Ledger> ledgers = new HashMap<>();

    Counters(Behaviour behaviour, ClusterState cluster) {
        this.behaviour = behaviour;
        this.cluster = cluster;
    }

    /**
     * Charges a device's counters, or returns why they cannot be.
     *
     * <p>With an overdrawn counter, every device of the pool is refused, even one that does not use it.
     */
    @Nullable
    Obstacle charge(Candidate candidate) {
        Ledger ledger = ledger(candidate);
        add(ledger, candidate, 1);
        for (Map.Entry<Counter, Quantity> one : ledger.available.entrySet()) {
            BigDecimal consumed = ledger.consumed.getOrDefault(one.getKey(), BigDecimal.ZERO);
            if (one.getValue().value().compareTo(consumed) < 0) {
                add(ledger, candidate, -1);
                return missing(ledger, one.getKey(), candidate.device());
            }
        }
        return null;
    }

    void giveBack(Candidate candidate) {
        add(ledger(candidate), candidate, -1);
    }

    private static void add(Ledger ledger, Candidate candidate, int sign) {
        BigDecimal factor = BigDecimal.valueOf(sign);
        for (CounterSet set : candidate.device().consumes()) {
            set.counters()
                    .forEach((name, amount) -> ledger.consumed.merge(
                            new Counter(set.name(), name), amount.value().multiply(factor), BigDecimal::add));
        }
    }

    private static Obstacle missing(Ledger ledger, Counter counter, Device device) {
        Quantity available = ledger.available.getOrDefault(counter, Quantity.ZERO);
        BigDecimal consumed = ledger.consumed.getOrDefault(counter, BigDecimal.ZERO);
        Quantity needed = device.consumes().stream()
                .filter(set -> set.name().equals(counter.set))
                .map(set -> set.counters().getOrDefault(counter.name, Quantity.ZERO))
                .reduce(Quantity.ZERO, (a, b) -> b.plus(a));
        Quantity left = available.withValue(available.value().subtract(consumed));
        List<Holder> consumers = ledger.consumers.getOrDefault(counter, List.of());
        return new Obstacle.CounterShort(counter.set, counter.name, needed, left, consumers);
    }

    private Ledger ledger(Candidate candidate) {
        return ledgers.computeIfAbsent(key(candidate), key -> ofClaims(candidate));
    }

    private Object key(Candidate candidate) {
        if (behaviour.has(Trait.COUNTERS_IN_DEVICE_SLICE)) {
            return candidate.slice().name();
        }
        return behaviour.has(SchedulerBug.COUNTERS_BY_POOL_NAME)
                ? candidate.id().pool()
                : candidate.pool().id();
    }

    private Ledger ofClaims(Candidate candidate) {
        List<Slice> slices = slices(candidate);
        Ledger ledger = new Ledger();
        for (Slice slice : slices) {
            for (CounterSet set : slice.sharedCounters()) {
                set.counters().forEach((name, all) -> ledger.available.put(new Counter(set.name(), name), all));
            }
        }
        for (Slice slice : slices) {
            for (Device device : slice.devices()) {
                List<Holder> holders = holders(slice, device);
                if (!holders.isEmpty()) {
                    ledger.subtract(device, holders);
                }
            }
        }
        return ledger;
    }

    private List<Slice> slices(Candidate candidate) {
        return behaviour.has(Trait.COUNTERS_IN_DEVICE_SLICE)
                ? List.of(candidate.slice())
                : Stream.of(candidate.pool().slices(), candidate.pool().elsewhere())
                        .flatMap(List::stream)
                        .toList();
    }

    private List<Holder> holders(Slice slice, Device device) {
        return device.consumes().isEmpty()
                ? List.of()
                : cluster.holders(slice.id(device)).stream()
                        .filter(holder -> !holder.device().adminAccess())
                        .toList();
    }
}
