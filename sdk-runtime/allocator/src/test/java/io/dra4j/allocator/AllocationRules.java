// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.cel.DeviceSelector;
import io.dra4j.allocator.cel.DeviceVariable;
import io.dra4j.allocator.model.AttributeValue;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Constraint;
import io.dra4j.allocator.model.CounterSet;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.SubRequest;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Finds the rules that allocations break, whatever search they come from. */
record AllocationRules(Cluster cluster, List<Claim> claims, boolean lists) {
    private static final Map<String, DeviceSelector> COMPILED = new ConcurrentHashMap<>();

    /** Returns whether results say which request they are for: names are not repeated. */
    boolean canTell() {
        return claims.stream().allMatch(claim -> {
            List<String> names = claim.requests().stream()
                    .flatMap(request -> request.alternatives().stream().map(request::nameOf))
                    .toList();
            return Set.copyOf(names).size() == names.size();
        });
    }

    /** Returns what is wrong with the allocations. */
    List<String> violations(Outcome.Allocated outcome) {
        List<String> violations = new ArrayList<>();
        for (int i = 0; i < claims.size(); i++) {
            checkClaim(claims.get(i), outcome.allocations().get(i), violations);
        }
        List<AllocatedDevice> all = outcome.allocations().stream()
                .flatMap(one -> one.results().stream())
                .toList();
        checkUse(all, violations);
        checkCapacity(all, violations);
        checkCounters(all, violations);
        return violations;
    }

    private Device device(DeviceId id) {
        long newest = cluster.slices(new PoolId(id.driver(), id.pool())).stream()
                .filter(slice -> has(slice, id))
                .mapToLong(Slice::generation)
                .max()
                .orElseThrow();
        return cluster.slices(new PoolId(id.driver(), id.pool())).stream()
                .filter(slice -> slice.generation() == newest && has(slice, id))
                .flatMap(slice -> slice.devices().stream())
                .filter(device -> device.name().equals(id.device()))
                .findFirst()
                .orElseThrow();
    }

    private static boolean has(Slice slice, DeviceId id) {
        return slice.devices().stream().anyMatch(device -> device.name().equals(id.device()));
    }

    private void checkClaim(Claim claim, Allocation allocation, List<String> violations) {
        int left = allocation.results().size();
        for (DeviceRequest request : claim.requests()) {
            List<SubRequest> chosen = request.alternatives().stream()
                    .filter(one -> !of(allocation, request.nameOf(one)).isEmpty())
                    .toList();
            if (chosen.size() > 1) {
                violations.add("several alternatives of " + request.name());
            }
            for (SubRequest asked : chosen) {
                List<AllocatedDevice> devices = of(allocation, request.nameOf(asked));
                left -= devices.size();
                if (asked.mode().equals(SubRequest.EXACT_COUNT) && devices.size() != Math.max(0, asked.count())) {
                    violations.add("%d devices for %s".formatted(devices.size(), asked));
                }
                devices.forEach(one -> checkDevice(asked, one.device(), violations));
            }
        }
        if (left != 0) {
            violations.add("results of no request: " + allocation);
        }
        claim.constraints().forEach(one -> checkConstraint(claim, one, allocation, violations));
    }

    private static List<AllocatedDevice> of(Allocation allocation, String request) {
        return allocation.results().stream()
                .filter(one -> one.request().equals(request))
                .toList();
    }

    private void checkDevice(SubRequest asked, DeviceId id, List<String> violations) {
        Device device = device(id);
        device.taints().stream()
                .filter(taint -> Set.of("NoSchedule", "NoExecute").contains(taint.effect()))
                .filter(taint -> asked.tolerations().stream().noneMatch(t -> t.tolerates(taint)))
                .forEach(taint -> violations.add(id + " has taint " + taint));
        DeviceVariable variable = new DeviceVariable(id.driver(), device, lists);
        Stream.concat(
                        cluster.deviceClass(asked.deviceClass()).orElseThrow().selectors().stream(),
                        asked.selectors().stream())
                .filter(one ->
                        !COMPILED.computeIfAbsent(one, DeviceSelector::compile).matches(variable))
                .forEach(one -> violations.add(id + " does not match " + one));
        asked.capacity().keySet().stream()
                .filter(name -> !device.capacity().containsKey(name))
                .forEach(name -> violations.add(id + " has no " + name));
    }

    private void checkConstraint(Claim claim, Constraint constraint, Allocation allocation, List<String> violations) {
        List<AttributeValue> values = new ArrayList<>();
        for (DeviceRequest request : claim.requests()) {
            for (SubRequest asked : request.alternatives()) {
                if (constraint.appliesTo(request, asked)) {
                    of(allocation, request.nameOf(asked)).forEach(one -> values.add(value(one.device(), constraint)));
                }
            }
        }
        boolean match = constraint.kind() == Constraint.Kind.MATCH;
        Set<Object> common =
                new HashSet<>(values.isEmpty() ? Set.of() : values.get(0).values());
        values.forEach(value -> common.retainAll(value.values()));
        long distinct = values.stream()
                .flatMap(value -> value.values().stream())
                .distinct()
                .count();
        long count = values.stream().mapToLong(value -> value.values().size()).sum();
        if (!values.isEmpty() && match ? common.isEmpty() && values.size() > 1 : distinct != count) {
            if (match || values.stream().map(AttributeValue::type).distinct().count() == 1) {
                violations.add(constraint + " does not hold for " + values);
            }
        }
    }

    private AttributeValue value(DeviceId id, Constraint constraint) {
        Map<String, AttributeValue> attributes = device(id).attributes();
        AttributeValue full = attributes.get(constraint.attribute());
        String bare = constraint.attribute().substring(constraint.attribute().indexOf('/') + 1);
        return full == null ? attributes.getOrDefault(bare, full) : full;
    }

    private void checkUse(List<AllocatedDevice> all, List<String> violations) {
        Set<DeviceId> exclusive = new HashSet<>();
        for (AllocatedDevice one : all) {
            boolean held = cluster.holders(one.device()).stream()
                    .anyMatch(holder -> holder.device().isExclusive());
            if (!one.adminAccess() && (held || (!one.shared() && !exclusive.add(one.device())))) {
                violations.add(one.device() + " is in use");
            }
        }
    }

    private void checkCapacity(List<AllocatedDevice> all, List<String> violations) {
        Map<DeviceId, Map<String, BigDecimal>> taken = new HashMap<>();
        for (AllocatedDevice one : all) {
            if (one.shared()) {
                Map<String, BigDecimal> ofDevice = taken.computeIfAbsent(one.device(), this::heldCapacity);
                one.consumedCapacity().forEach((name, amount) -> ofDevice.merge(name, amount.value(), BigDecimal::add));
            }
        }
        taken.forEach((id, amounts) -> device(id).capacity().forEach((name, capacity) -> {
            BigDecimal sum = amounts.getOrDefault(name, BigDecimal.ZERO);
            if (sum.compareTo(capacity.value().value()) > 0) {
                violations.add("%s of %s: %s".formatted(name, id, sum));
            }
        }));
    }

    private Map<String, BigDecimal> heldCapacity(DeviceId id) {
        Map<String, BigDecimal> held = new HashMap<>();
        cluster.holders(id).stream()
                .filter(holder -> holder.device().isShare())
                .flatMap(holder -> holder.device().consumedCapacity().entrySet().stream())
                .forEach(one -> held.merge(one.getKey(), one.getValue().value(), BigDecimal::add));
        return held;
    }

    /** Checks the pools from which a device was taken that was not in use before. */
    private void checkCounters(List<AllocatedDevice> all, List<String> violations) {
        Set<DeviceId> used = new HashSet<>();
        Set<PoolId> pools = new HashSet<>();
        for (AllocatedDevice one : all) {
            DeviceId id = one.device();
            boolean inUse = cluster.holders(id).stream()
                    .anyMatch(holder -> !holder.device().adminAccess());
            if (!device(id).consumes().isEmpty() && !inUse && used.add(id)) {
                pools.add(new PoolId(id.driver(), id.pool()));
            }
        }
        pools.forEach(pool -> checkCounters(pool, used, violations));
    }

    private void checkCounters(PoolId pool, Set<DeviceId> used, List<String> violations) {
        Map<String, BigDecimal> left = new HashMap<>();
        long newest = cluster.slices(pool).stream()
                .filter(slice -> slice.devices().stream().map(slice::id).anyMatch(used::contains))
                .mapToLong(Slice::generation)
                .max()
                .orElseThrow();
        for (Slice slice : cluster.slices(pool)) {
            if (slice.generation() == newest) {
                slice.sharedCounters().forEach(set -> add(left, set, 1));
                for (Device device : slice.devices()) {
                    boolean held = cluster.holders(slice.id(device)).stream()
                            .anyMatch(holder -> !holder.device().adminAccess());
                    if (held || used.contains(slice.id(device))) {
                        device.consumes().forEach(set -> add(left, set, -1));
                    }
                }
            }
        }
        left.forEach((counter, amount) -> {
            if (amount.signum() < 0) {
                violations.add("counter %s of %s: %s".formatted(counter, pool, amount));
            }
        });
    }

    private static void add(Map<String, BigDecimal> left, CounterSet set, int sign) {
        set.counters()
                .forEach((name, amount) -> left.merge(
                        set.name() + "/" + name, amount.value().multiply(BigDecimal.valueOf(sign)), BigDecimal::add));
    }
}
