// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.PrepareException;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Adds up what devices take of the counter sets of one pool: overlapping partitions of a device
 * must not be held together.
 *
 * <p>A device that several claims share takes its counters once. Not thread-safe.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-scheduling/4815-dra-partitionable-devices">
 *     KEP-4815</a>
 */
final class CounterBudget {

    private final Pool pool;
    private final Map<Counter, BigDecimal> used = new LinkedHashMap<>();
    private final Map<Counter, Set<ClaimRef>> users = new LinkedHashMap<>();

    CounterBudget(Pool pool) {
        this.pool = pool;
    }

    /** Counts a device that a claim holds already. */
    void held(Collection<ClaimRef> claims, List<CounterConsumption> consumption) {
        for (CounterConsumption one : consumption) {
            one.counters()
                    .forEach(
                            (name, amount) -> {
                                Counter counter = new Counter(one.counterSet(), name);
                                used.merge(counter, amount.amount(), BigDecimal::add);
                                users.computeIfAbsent(counter, key -> new LinkedHashSet<>())
                                        .addAll(claims);
                            });
        }
    }

    /**
     * Counts a device that a claim wants.
     *
     * @throws PrepareException if what is left does not do
     */
    void take(ClaimRef claim, String device, List<CounterConsumption> consumption) {
        for (CounterConsumption one : consumption) {
            one.counters()
                    .forEach(
                            (name, amount) ->
                                    require(new Counter(one.counterSet(), name), device, amount));
        }
        held(List.of(claim), consumption);
    }

    private void require(Counter counter, String device, Quantity amount) {
        Quantity total = total(counter);
        BigDecimal taken = used.getOrDefault(counter, BigDecimal.ZERO);
        if (amount.amount().signum() > 0
                && total != null
                && taken.add(amount.amount()).compareTo(total.amount()) > 0) {
            throw new PrepareException(
                    "device "
                            + pool.name()
                            + "/"
                            + device
                            + " takes "
                            + amount
                            + " of counter "
                            + counter.name
                            + " in counter set "
                            + counter.set
                            + ", which has "
                            + total
                            + ", and claims hold "
                            + taken.toPlainString()
                            + " of it ("
                            + users.getOrDefault(counter, Set.of()).stream()
                                    .map(ClaimRef::toString)
                                    .collect(Collectors.joining(", "))
                            + "); it is free when they are unprepared");
        }
    }

    private @Nullable Quantity total(Counter counter) {
        for (CounterSet set : pool.counterSets()) {
            if (set.name().equals(counter.set)) {
                return set.counters().get(counter.name);
            }
        }
        return null;
    }

    private record Counter(String set, String name) {}
}
