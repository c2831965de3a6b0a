// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.NodeSelector.Operator;
import io.dra4j.api.device.NodeSelector.Requirement;
import io.dra4j.api.device.NodeSelector.Subject;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.Taint;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Random devices with any of the features that a driver can publish, at and around the limits of the API.
 *
 * @param random where they come from
 * @param edges how many of a thousand values are such that the API may refuse them
 */
record RandomDevices(Random random, int edges) {

    /** Returns a device; one of many has few parts, for the test's time. */
    Device next(String name, boolean ofMany, Placement pool, List<CounterSet> sets) {
        int names = ofMany ? random.nextInt(3) : upTo(32);
        int capacities = random.nextInt(names + 1);
        boolean shared = random.nextBoolean();
        Map<String, Capacity> amounts = new LinkedHashMap<>();
        for (int i = 0; i < capacities; i++) {
            amounts.put(key(i), capacity(shared));
        }
        return Device.builder(name)
                .attributes(attributes(names - capacities))
                .capacities(amounts)
                .allowMultipleAllocations(shared)
                .consumesCounters(random.nextInt(3) == 0 ? consumptions(sets) : List.of())
                .taints(list(ofMany ? random.nextInt(2) : upTo(16), this::taint))
                .placement(placement(pool))
                .binding(binding())
                .bindsToNode(random.nextBoolean())
                .build();
    }

    /** At most 48 values; lists take what single values leave. */
    private Map<String, AttributeValue> attributes(int count) {
        Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        int room = 48 - count;
        for (int i = 0; i < count; i++) {
            int more = room > 0 && random.nextInt(4) == 0 ? random.nextInt(room) + 1 : 0;
            boolean single = more == 0 && random.nextBoolean();
            attributes.put(key(i), single ? scalar() : listAttribute(1 + more));
            room -= more;
        }
        return attributes;
    }

    private AttributeValue scalar() {
        return switch (random.nextInt(4)) {
            case 0 -> AttributeValue.of(text());
            case 1 -> AttributeValue.of(any(List.of(0L, Long.MIN_VALUE, Long.MAX_VALUE)));
            case 2 -> AttributeValue.of(random.nextBoolean());
            default -> AttributeValue.version(version());
        };
    }

    private AttributeValue listAttribute(int size) {
        int count = isEdge() ? 0 : size;
        return switch (random.nextInt(4)) {
            case 0 -> new AttributeValue.OfStrings(list(count, i -> text()));
            case 1 -> new AttributeValue.OfInts(list(count, i -> random.nextLong()));
            case 2 -> new AttributeValue.OfBools(list(count, i -> random.nextBoolean()));
            default -> new AttributeValue.OfVersions(list(count, i -> version()));
        };
    }

    private Capacity capacity(boolean shared) {
        if (shared != isEdge() && random.nextBoolean()) {
            long most = any(List.of(1L, 7L, 64L, 1L << 40, Long.MAX_VALUE));
            return new Capacity(Quantity.of(most), policy(most));
        }
        String amount = edge(
                List.of("0.1n", "8Ei", "1e99", "10E", "-1e-10"),
                List.of("0", "-3", "1n", "7Ei", "80Gi", "9e18", "1500m", "1e-9", ".5", "+3."));
        return new Capacity(new Quantity(amount), null);
    }

    private RequestPolicy policy(long most) {
        return switch (random.nextInt(4)) {
            case 0 -> new RequestPolicy(amountUpTo(most), List.of(), null);
            case 1 -> new RequestPolicy(null, List.of(), null);
            case 2 -> values(most);
            default -> range(most);
        };
    }

    private RequestPolicy values(long most) {
        int count = (int) Math.min(most, Math.max(1, upTo(10)));
        List<Quantity> values = new ArrayList<>();
        for (long i = 1; i <= count; i++) {
            values.add(Quantity.of(most == Long.MAX_VALUE ? most - count + i : i));
        }
        if (isEdge()) {
            values.add(any(values));
        }
        return RequestPolicy.values(isEdge() ? Quantity.of(0) : any(values), values);
    }

    private RequestPolicy range(long most) {
        long min = random.nextLong(most);
        long step = 1 + random.nextLong(most - min);
        long steps = random.nextLong((most - min) / step + 1);
        long max = min + step * steps;
        long standard = min + step * (random.nextLong(steps + 1));
        return RequestPolicy.range(
                isEdge() ? amountUpTo(most) : Quantity.of(standard),
                new RequestPolicy.ValidRange(
                        isEdge() ? amountUpTo(most) : Quantity.of(min),
                        isEdge() ? amountUpTo(most) : orNull(max),
                        isEdge() ? Quantity.of(random.nextInt(3)) : orNull(step)));
    }

    private @Nullable Quantity orNull(long amount) {
        return random.nextInt(4) == 0 ? null : Quantity.of(amount);
    }

    private Quantity amountUpTo(long most) {
        return Quantity.of(random.nextLong(most) + 1);
    }

    List<CounterSet> counterSets(int count) {
        return list(count, i -> CounterSet.of("set-" + i, counters()));
    }

    private Map<String, Quantity> counters() {
        Map<String, Quantity> counters = new LinkedHashMap<>();
        list(Math.max(1, upTo(32)), i -> (isEdge() ? "C" : "c") + "-".repeat(59) + i)
                .forEach(name -> counters.put(name, Quantity.of(random.nextInt(1000))));
        return counters;
    }

    private List<CounterConsumption> consumptions(List<CounterSet> sets) {
        List<CounterConsumption> consumptions = new ArrayList<>();
        for (CounterSet set : sets.subList(0, Math.min(sets.size(), random.nextInt(3)))) {
            Map<String, Quantity> part = new LinkedHashMap<>();
            set.counters().forEach((name, there) -> part.put(name, isEdge() ? Quantity.of(1001) : there));
            consumptions.add(CounterConsumption.of(isEdge() ? "other" : set.name(), part));
        }
        return consumptions;
    }

    private Taint taint(int index) {
        return new Taint(
                labelName() + index,
                random.nextBoolean() ? null : labelValue(),
                any(List.of(Taint.Effect.values())),
                random.nextBoolean() ? null : Instant.ofEpochSecond(random.nextInt()));
    }

    private BindingConditions binding() {
        if (random.nextInt(3) > 0) {
            return BindingConditions.NONE;
        }
        return new BindingConditions(
                list(Math.max(1, upTo(4)), i -> labelName() + i),
                list(Math.max(isEdge() ? 0 : 1, upTo(4)), i -> labelName() + "f" + i));
    }

    Placement poolPlacement() {
        return switch (random.nextInt(5)) {
            case 0 -> new Placement.PerDevice();
            case 1 -> new Placement.MatchingNodes(selector());
            case 2 -> new Placement.AllNodes();
            default -> new Placement.ThisNode();
        };
    }

    /** Returns the placement of a device in a pool with a placement. */
    @Nullable
    Placement placement(Placement pool) {
        if (isEdge() == pool instanceof Placement.PerDevice) {
            return null;
        }
        return switch (random.nextInt(3)) {
            case 0 -> new Placement.NamedNode(nodeName());
            case 1 -> new Placement.MatchingNodes(selector());
            default -> new Placement.AllNodes();
        };
    }

    private NodeSelector selector() {
        return new NodeSelector(list(Math.max(isEdge() ? 0 : 1, upTo(5)), i -> requirement()));
    }

    private Requirement requirement() {
        if (random.nextInt(4) == 0) {
            Operator operator = any(List.of(Operator.IN, Operator.NOT_IN));
            return new Requirement(
                    isEdge() ? "metadata.uid" : "metadata.name",
                    isEdge() ? Operator.EXISTS : operator,
                    List.of(nodeName()),
                    Subject.FIELD);
        }
        Operator operator = any(List.of(Operator.values()));
        int values = switch (operator) {
            case IN, NOT_IN -> 1 + random.nextInt(4);
            case EXISTS, DOES_NOT_EXIST -> isEdge() ? 1 : 0;
            case GREATER_THAN, LESS_THAN -> isEdge() ? 2 : 1;
        };
        boolean number = operator == Operator.GREATER_THAN || operator == Operator.LESS_THAN;
        return new Requirement(
                labelName(),
                operator,
                list(values, i -> number ? "" + random.nextInt(99) : labelValue()),
                Subject.LABEL);
    }

    private String nodeName() {
        return edge(List.of("", "A", "a..b"), List.of("node-1", "a".repeat(253), "a.b-c.d"));
    }

    private String key(int index) {
        String name = "k" + index;
        return edge(
                List.of("1k", "k-" + index, "/k", "a/", "a/b/c", "\0\n\u202E", "d".repeat(64) + "/k"),
                List.of(
                        name,
                        name + "_".repeat(32 - name.length()),
                        "d".repeat(63) + "/" + name,
                        "Example.com/" + name));
    }

    private String labelName() {
        return edge(
                List.of("", "-a", "a/", "/a", "A.b/c d", "n".repeat(64), "ü"),
                List.of("l", "L_.-" + "n".repeat(50), "d".repeat(253) + "/l", "example.com/a.b"));
    }

    private String labelValue() {
        return edge(List.of("-", "a b", "v".repeat(64), "ü", "a/b"), List.of("", "v", "V".repeat(63), "0_a.B-9"));
    }

    private String text() {
        String longest = "\uD83D\uDE00".repeat(16);
        return edge(
                List.of("x".repeat(65), "ü".repeat(33), "\uD800"),
                List.of("", "x".repeat(64), "ü".repeat(32), longest, "\0\n\"\u202E"));
    }

    private String version() {
        return edge(
                List.of("", "1", "1.0", "v1.0.0", "1.0.0-01", "1.0.0+", "1.0.0-" + "a".repeat(60)),
                List.of("1.0.0", "0.0.0-0a.b--.c+01", "1.0.0-" + "a".repeat(58), "10.20.30+x"));
    }

    /** Now and then the limit itself, at the edge one more, mostly few. */
    private int upTo(int limit) {
        if (isEdge()) {
            return limit + 1;
        }
        return random.nextInt(6) == 0 ? limit : random.nextInt(Math.min(limit, 3) + 1);
    }

    private String edge(List<String> refused, List<String> accepted) {
        return any(isEdge() ? refused : accepted);
    }

    private boolean isEdge() {
        return random.nextInt(1000) < edges;
    }

    private <T> T any(List<T> values) {
        return values.get(random.nextInt(values.size()));
    }

    private static <T> List<T> list(int count, IntFunction<T> element) {
        return IntStream.range(0, count).mapToObj(element).toList();
    }

    /** Returns a device that says the same in another way. */
    Device rephrased(Device device) {
        BindingConditions binding = device.binding();
        return device.toBuilder()
                .attributes(shuffled(device.attributes(), random))
                .capacities(shuffled(device.capacities(), random))
                .consumesCounters(shuffled(device.consumesCounters()))
                .taints(shuffled(device.taints()))
                .placement(rephrased(device.placement()))
                .binding(new BindingConditions(shuffled(binding.conditions()), shuffled(binding.failureConditions())))
                .build();
    }

    @Nullable
    Placement rephrased(@Nullable Placement placement) {
        if (!(placement instanceof Placement.MatchingNodes matching)) {
            return placement;
        }
        List<Requirement> requirements = matching.selector().requirements();
        return new Placement.MatchingNodes(new NodeSelector(
                shuffled(requirements).stream().map(this::rephrased).toList()));
    }

    private Requirement rephrased(Requirement it) {
        return new Requirement(it.key(), it.operator(), shuffled(it.values()), it.subject());
    }

    <T> List<T> shuffled(List<T> list) {
        List<T> shuffled = new ArrayList<>(list);
        Collections.shuffle(shuffled, random);
        return shuffled;
    }

    static <V> Map<String, V> shuffled(Map<String, V> map, Random random) {
        List<String> keys = new ArrayList<>(map.keySet());
        Collections.shuffle(keys, random);
        Map<String, V> shuffled = new LinkedHashMap<>();
        keys.forEach(key -> shuffled.put(key, map.get(key)));
        return shuffled;
    }
}
