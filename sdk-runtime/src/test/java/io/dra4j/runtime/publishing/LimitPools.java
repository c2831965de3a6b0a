// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.NodeSelector.Operator;
import io.dra4j.api.device.NodeSelector.Requirement;
import io.dra4j.api.device.NodeSelector.Subject;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.Taint;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Random pools at and around the limits of the API.
 *
 * @param random where they come from
 * @param edges how many of a thousand values are such that the API may refuse them
 */
record LimitPools(Random random, int edges) {

    private static final List<Integer> SIZES = List.of(63, 64, 65, 127, 128, 129);

    Pool next(String name) {
        List<CounterSet> sets =
                distinct(
                        random.nextInt(3) == 0 ? 1 + random.nextInt(9) : 0,
                        i -> new CounterSet("set-" + i, counters(32, 1000)));
        Placement placement = poolPlacement();
        int size = random.nextInt(25) == 0 ? any(SIZES) : random.nextInt(4);
        List<Device> devices = distinct(size, i -> device(i, size, placement, sets));
        return new Pool(new PoolName(name), placement, devices, sets);
    }

    private Device device(int index, int size, Placement pool, List<CounterSet> sets) {
        boolean small = size > 9;
        int names = small ? random.nextInt(3) : upTo(32);
        int capacities = random.nextInt(names + 1);
        boolean shared = random.nextBoolean();
        Map<String, AttributeValue> attributes = attributes(names - capacities);
        Map<String, Capacity> amounts = new LinkedHashMap<>();
        distinct(capacities, i -> key(i))
                .forEach(key -> amounts.put(key, new Amounts(this).capacity(shared)));
        String name = "d" + index + (small ? "" : "x".repeat(random.nextInt(60)));
        return new Device(
                new DeviceName(name),
                attributes,
                amounts,
                shared,
                random.nextInt(3) == 0 ? consumptions(sets) : List.of(),
                distinct(small ? random.nextInt(2) : upTo(16), this::taint),
                isEdge() == pool instanceof Placement.PerDevice ? null : devicePlacement(),
                binding(),
                random.nextBoolean(),
                Map.of());
    }

    /** At most 48 values; lists take what single values leave. */
    private Map<String, AttributeValue> attributes(int count) {
        Map<String, AttributeValue> attributes = new LinkedHashMap<>();
        int room = 48 - count;
        for (int i = 0; i < count; i++) {
            int more = room > 0 && random.nextInt(4) == 0 ? random.nextInt(room) + 1 : 0;
            attributes.put(key(i), more == 0 && random.nextBoolean() ? scalar() : list(1 + more));
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

    private AttributeValue list(int size) {
        int count = isEdge() ? 0 : size;
        return switch (random.nextInt(4)) {
            case 0 -> new AttributeValue.OfStrings(distinct(count, i -> text()));
            case 1 -> new AttributeValue.OfInts(distinct(count, i -> random.nextLong()));
            case 2 -> new AttributeValue.OfBools(distinct(count, i -> random.nextBoolean()));
            default -> new AttributeValue.OfVersions(distinct(count, i -> version()));
        };
    }

    private List<CounterConsumption> consumptions(List<CounterSet> sets) {
        List<CounterConsumption> consumptions = new ArrayList<>();
        for (CounterSet set : sets.subList(0, Math.min(sets.size(), random.nextInt(3)))) {
            Map<String, Quantity> part = new LinkedHashMap<>();
            set.counters()
                    .forEach((name, there) -> part.put(name, isEdge() ? Quantity.of(1001) : there));
            consumptions.add(new CounterConsumption(isEdge() ? "other" : set.name(), part));
        }
        return consumptions;
    }

    private Map<String, Quantity> counters(int most, int amount) {
        Map<String, Quantity> counters = new LinkedHashMap<>();
        distinct(Math.max(1, upTo(most)), i -> (isEdge() ? "C" : "c") + "-".repeat(59) + i)
                .forEach(name -> counters.put(name, Quantity.of(random.nextInt(amount))));
        return counters;
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
                distinct(Math.max(1, upTo(4)), i -> labelName() + i),
                distinct(Math.max(isEdge() ? 0 : 1, upTo(4)), i -> labelName() + "f" + i));
    }

    private Placement poolPlacement() {
        return switch (random.nextInt(4)) {
            case 0 -> new Placement.PerDevice();
            case 1 -> new Placement.MatchingNodes(selector());
            case 2 -> new Placement.AllNodes();
            default -> new Placement.ThisNode();
        };
    }

    private Placement devicePlacement() {
        return switch (random.nextInt(3)) {
            case 0 -> new Placement.NamedNode(nodeName());
            case 1 -> new Placement.MatchingNodes(selector());
            default -> new Placement.AllNodes();
        };
    }

    private NodeSelector selector() {
        return new NodeSelector(distinct(Math.max(isEdge() ? 0 : 1, upTo(5)), i -> requirement()));
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
        int values =
                switch (operator) {
                    case IN, NOT_IN -> 1 + random.nextInt(4);
                    case EXISTS, DOES_NOT_EXIST -> isEdge() ? 1 : 0;
                    case GREATER_THAN, LESS_THAN -> isEdge() ? 2 : 1;
                };
        boolean number = operator == Operator.GREATER_THAN || operator == Operator.LESS_THAN;
        return new Requirement(
                labelName(),
                operator,
                distinct(values, i -> number ? "" + random.nextInt(99) : labelValue()),
                Subject.LABEL);
    }

    private String nodeName() {
        return edge(List.of("", "A", "a..b"), List.of("node-1", "a".repeat(253), "a.b-c.d"));
    }

    private String key(int index) {
        String name = "k" + index;
        return edge(
                List.of("1k", "k-" + index, "/k", "a/", "a/b/c", "d".repeat(64) + "/k"),
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
        return edge(
                List.of("-", "a b", "v".repeat(64), "ü", "a/b"),
                List.of("", "v", "V".repeat(63), "0_a.B-9"));
    }

    private String text() {
        return edge(
                List.of("x".repeat(65), "ü".repeat(33), "\uD800"),
                List.of(
                        "",
                        "x".repeat(64),
                        "ü".repeat(32),
                        "\uD83D\uDE00".repeat(16),
                        "\0\n\"\u202E"));
    }

    private String version() {
        return edge(
                List.of("", "1", "1.0", "v1.0.0", "1.0.0-01", "1.0.0+", "1.0.0-" + "a".repeat(60)),
                List.of("1.0.0", "0.0.0-0a.b--.c+01", "1.0.0-" + "a".repeat(58), "10.20.30+x"));
    }

    /** Now and then the limit itself, at the edge one more, mostly few. */
    int upTo(int limit) {
        if (isEdge()) {
            return limit + 1;
        }
        return random.nextInt(6) == 0 ? limit : random.nextInt(Math.min(limit, 3) + 1);
    }

    String edge(List<String> refused, List<String> accepted) {
        return isEdge() ? any(refused) : any(accepted);
    }

    boolean isEdge() {
        return random.nextInt(1000) < edges;
    }

    <T> T any(List<T> values) {
        return values.get(random.nextInt(values.size()));
    }

    private static <T> List<T> distinct(int count, IntFunction<T> element) {
        return IntStream.range(0, count).mapToObj(element).toList();
    }
}
