// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.RequestObstacles;
import io.dra4j.allocator.explain.Change.Place;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.RequestPolicy;
import io.dra4j.allocator.model.Slice;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Lists smaller amounts of capacities that devices have left, or whose policies allow them. */
record SmallerAmounts(Question question, Outcome.DoesNotFit refused) {

    List<Change.RequestLess> largestFirst() {
        List<Change.RequestLess> all = new ArrayList<>();
        for (RequestObstacles one : refused.requests()) {
            Place place = new Place(one.claim(), one.request());
            one.devices().forEach((id, obstacle) -> add(all, place, id, obstacle));
        }
        return all.stream()
                .distinct()
                .sorted(Comparator.comparing(Change.RequestLess::amount).reversed())
                .toList();
    }

    private void add(List<Change.RequestLess> all, Place place, DeviceId id, Obstacle obstacle) {
        if (obstacle instanceof Obstacle.CapacityShort one && one.requested()) {
            amounts(id, one.capacity(), one.left())
                    .forEach(to -> all.add(new Change.RequestLess(place, one.capacity(), to)));
        }
        if (obstacle instanceof Obstacle.AmountRefused one) {
            amounts(id, one.capacity(), one.amount())
                    .forEach(to -> all.add(new Change.RequestLess(place, one.capacity(), to)));
        }
    }

    /** The limit itself, and the largest amount up to it that the device's policy has. */
    private List<Quantity> amounts(DeviceId id, String capacity, Quantity limit) {
        List<Quantity> amounts = new ArrayList<>(List.of(limit));
        question.cluster().slices(new PoolId(id.driver(), id.pool())).stream()
                .map(Slice::devices)
                .flatMap(List::stream)
                .filter(device -> device.name().equals(id.device()))
                .flatMap(device -> device.capacity().entrySet().stream())
                .filter(one -> one.getKey().equals(capacity))
                .filter(one -> one.getValue().policy() != null)
                .forEach(one -> amounts.addAll(allowed(one.getValue().policy(), limit)));
        return amounts.stream().filter(one -> one.value().signum() > 0).toList();
    }

    private static List<Quantity> allowed(RequestPolicy policy, Quantity limit) {
        RequestPolicy.Range range = policy.validRange();
        if (range == null) {
            return policy.validValues().stream()
                    .filter(one -> one.compareTo(limit) <= 0)
                    .toList();
        }
        Quantity most = range.max() == null || range.max().compareTo(limit) > 0 ? limit : range.max();
        if (range.step() == null) {
            return List.of(most);
        }
        Quantity least = range.min() == null ? Quantity.ZERO : range.min();
        BigDecimal steps = most.value()
                .subtract(least.value())
                .divideToIntegralValue(range.step().value())
                .multiply(range.step().value());
        return List.of(most.withValue(least.value().add(steps)));
    }
}
