// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.NodeSelector.Requirement;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.Taint;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Pools of all that the records take: mostly small, often absurd, now and then huge. */
record HostilePools(Random random) {
    private static final String[] TEXTS =
            ("|a|gpu|example.com/a|A|_|-|/|a/b/c|1.0.0|metadata.name|\0|\n|\uD800|\uDC00\uD800|\u202E"
                            + "|\u212A|İ|ä|{}|[1|null|\"|[\"x\"]|\uD83D\uDE00|nodeName|%s %n %d|a.|17"
                            + "|99999999999999999999")
                    .split("\\|");

    private static final String[] AMOUNTS = ("0 1 -1 2 5 500m 1n 0.1n 8Ei 7Ei 1e99 -1e99 1e-99 9223372036854775807"
                    + " 9223372036854775808 1Gi 1.5 .5 5. +3")
            .split(" ");

    Pool next() {
        return Pool.builder("p" + random.nextInt(9))
                .placement(placement())
                .devices(list(this::device))
                .counterSets(list(() -> CounterSet.of(name(), counters())))
                .build();
    }

    private Device device() {
        return Device.builder("d" + random.nextInt(99))
                .attributes(map(this::attribute))
                .capacities(map(this::capacity))
                .allowMultipleAllocations(random.nextBoolean())
                .consumesCounters(list(() -> CounterConsumption.of(name(), counters())))
                .taints(list(this::taint))
                .placement(random.nextInt(3) == 0 ? placement() : null)
                .binding(new BindingConditions(names(), names()))
                .bindsToNode(random.nextBoolean())
                .rawFields(map(this::name))
                .build();
    }

    private Placement placement() {
        return switch (random.nextInt(6)) {
            case 0 -> new Placement.ThisNode();
            case 1 -> new Placement.NamedNode(name());
            case 2 -> new Placement.MatchingNodes(selector());
            case 3 -> new Placement.AllNodes();
            case 4 -> new Placement.PerDevice();
            default -> new Placement.PublishedElsewhere();
        };
    }

    private NodeSelector selector() {
        return new NodeSelector(list(() -> new Requirement(
                name(), any(NodeSelector.Operator.values()), names(), any(NodeSelector.Subject.values()))));
    }

    private AttributeValue attribute() {
        return switch (random.nextInt(8)) {
            case 0 -> new AttributeValue.OfString(name());
            case 1 -> new AttributeValue.OfInt(random.nextLong());
            case 2 -> new AttributeValue.OfBool(random.nextBoolean());
            case 3 -> new AttributeValue.OfVersion(name());
            case 4 -> new AttributeValue.OfStrings(names());
            case 5 -> new AttributeValue.OfInts(list(random::nextLong));
            case 6 -> new AttributeValue.OfBools(list(random::nextBoolean));
            default -> new AttributeValue.OfVersions(names());
        };
    }

    private Capacity capacity() {
        return new Capacity(amount(), random.nextBoolean() ? null : policy());
    }

    private RequestPolicy policy() {
        return new RequestPolicy(
                maybeNull(this::amount),
                list(this::amount),
                random.nextBoolean()
                        ? null
                        : new RequestPolicy.ValidRange(amount(), maybeNull(this::amount), maybeNull(this::amount)));
    }

    private Taint taint() {
        return new Taint(
                name(),
                maybeNull(this::name),
                any(Taint.Effect.values()),
                random.nextBoolean()
                        ? null
                        : any(
                                Instant.MIN,
                                Instant.MAX,
                                Instant.EPOCH,
                                Instant.ofEpochSecond(random.nextLong(1L << 40))));
    }

    private Map<String, Quantity> counters() {
        Map<String, Quantity> counters = new LinkedHashMap<>();
        list(this::name).forEach(name -> counters.put(name, amount()));
        return counters;
    }

    private Quantity amount() {
        return new Quantity(any(AMOUNTS));
    }

    private List<String> names() {
        return list(this::name);
    }

    private String name() {
        return random.nextInt(3) > 0 ? "n" + random.nextInt(3) : any(TEXTS).repeat(length());
    }

    /** Mostly one, now and then around a limit, seldom very many. */
    private int length() {
        return switch (random.nextInt(20)) {
            case 0 -> 10 + random.nextInt(60);
            case 1 -> random.nextInt(50) == 0 ? 100_000 : 0;
            default -> 1;
        };
    }

    private <T> List<T> list(Supplier<T> element) {
        List<T> list = new ArrayList<>();
        int size = random.nextInt(50) == 0 ? 20 + random.nextInt(30) : Math.max(0, random.nextInt(5) - 2);
        for (int i = 0; i < size; i++) {
            list.add(element.get());
        }
        return list;
    }

    private <V> Map<String, V> map(Supplier<V> value) {
        Map<String, V> map = new LinkedHashMap<>();
        list(this::name).forEach(key -> map.put(key, value.get()));
        return map;
    }

    private <T> @Nullable T maybeNull(Supplier<T> value) {
        return random.nextInt(60) == 0 ? null : value.get();
    }

    @SafeVarargs
    private <T> T any(T... values) {
        return values[random.nextInt(values.length)];
    }
}
