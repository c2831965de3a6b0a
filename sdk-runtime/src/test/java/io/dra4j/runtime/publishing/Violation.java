// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.NodeSelector.Operator;
import io.dra4j.api.device.NodeSelector.Requirement;
import io.dra4j.api.device.NodeSelector.Subject;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A rule of the API that a pool breaks, one for each kind of value and of place, and what the host
 * must be told of it.
 *
 * @param field where
 * @param rule what must hold there
 * @param value what is there instead
 * @param bad breaks the rule in a good pool
 */
record Violation(String field, String rule, String value, UnaryOperator<Pool> bad) {

    private static final Quantity ONE = Quantity.of(1);

    @Override
    public String toString() {
        return field + " " + rule;
    }

    static Pool goodPool(String name) {
        return new Pool(
                new PoolName(name),
                new Placement.ThisNode(),
                List.of(Device.builder("gpu-0").build(), Device.builder("gpu-1").build()),
                List.of(new CounterSet("shared", Map.of("memory", Quantity.of(10)))));
    }

    static List<Violation> all() {
        return Stream.of(attributes(), others(), placements()).flatMap(List::stream).toList();
    }

    private static List<Violation> attributes() {
        return List.of(
                attribute("1a", AttributeValue.of(1), "", "C identifier", "1a"),
                attribute("s", AttributeValue.of("x".repeat(65)), ".string", "64 bytes", "xxx"),
                attribute("v", AttributeValue.version("1.0"), ".version", "2.0.0", "1.0"),
                attribute("l", new AttributeValue.OfInts(List.of()), ".ints", "empty", "[]"),
                device(".attributes", "at most 48 values", "49", Violation::manyValues));
    }

    private static Device.Builder manyValues(Device.Builder device) {
        return device.attribute(
                "l", new AttributeValue.OfInts(IntStream.range(0, 49).mapToObj(i -> 1L).toList()));
    }

    private static List<Violation> others() {
        return List.of(
                device(
                        ".capacity[c].requestPolicy",
                        "multiple allocations",
                        "RequestPolicy",
                        d ->
                                d.capacity(
                                        "c",
                                        new Capacity(
                                                ONE, RequestPolicy.values(ONE, List.of(ONE))))),
                device(".taints", "its own method", "[]", d -> d.rawField("taints", "[]")),
                sets("sharedCounters[1].name", "unique in the pool", "shared", "shared", 1),
                sets("sharedCounters[1].name", "DNS label", "S.", "S.", 1),
                sets("sharedCounters[1].counters", "not be empty", "[]", "more", 0),
                sets("sharedCounters[1].counters", "at most 32", "33", "more", 33));
    }

    private static List<Violation> placements() {
        return List.of(
                placed("nodeName", "must be absent", "other", new Placement.NamedNode("other")),
                selector("", "must have a requirement", "[]"),
                selector(
                        ".matchExpressions[0].key", "at most 63", "-", label("-", Operator.EXISTS)),
                selector(
                        ".matchExpressions[0].values",
                        "not be empty",
                        "[]",
                        label("a", Operator.IN)),
                selector(
                        ".matchExpressions[0].values[0]",
                        "63",
                        "b c",
                        label("a", Operator.IN, "b c")),
                selector(
                        ".matchExpressions[0].values",
                        "absent",
                        "[b]",
                        label("a", Operator.EXISTS, "b")),
                selector(
                        ".matchExpressions[0].values",
                        "one whole number",
                        "[b]",
                        label("a", Operator.LESS_THAN, "b")),
                selector(".matchFields[0].key", "metadata.name", "a", field("a", Operator.IN, "b")),
                selector(
                        ".matchFields[0].operator",
                        "In or NotIn",
                        "EXISTS",
                        field("metadata.name", Operator.EXISTS, "b")),
                selector(
                        ".matchFields[0].values",
                        "one value",
                        "[b, c]",
                        field("metadata.name", Operator.IN, "b", "c")),
                device(
                        "",
                        "no placement of its own",
                        "AllNodes",
                        d -> d.placement(new Placement.AllNodes())),
                placed("devices[gpu-0]", "one of nodeName", "null", new Placement.PerDevice()));
    }

    private static Violation device(
            String field, String rule, String value, UnaryOperator<Device.Builder> change) {
        return new Violation(
                "devices[gpu-0]" + field,
                rule,
                value,
                pool ->
                        withDevices(
                                pool,
                                change.apply(pool.devices().get(0).toBuilder()).build(),
                                pool.devices().get(1)));
    }

    private static Pool withDevices(Pool pool, Device... devices) {
        return new Pool(pool.name(), pool.placement(), List.of(devices), pool.counterSets());
    }

    private static Violation attribute(
            String name, AttributeValue attribute, String field, String rule, String value) {
        return device(
                ".attributes[" + name + "]" + field,
                rule,
                value,
                d -> d.attribute(name, attribute));
    }

    private static Violation sets(
            String field, String rule, String value, String name, int counters) {
        Map<String, Quantity> more = new LinkedHashMap<>();
        IntStream.range(0, counters).forEach(i -> more.put("c" + i, ONE));
        return new Violation(
                field,
                rule,
                value,
                pool -> {
                    List<CounterSet> sets = new ArrayList<>(pool.counterSets());
                    sets.add(new CounterSet(name, more));
                    return pool.withCounterSets(sets);
                });
    }

    private static Violation placed(String field, String rule, String value, Placement placement) {
        return new Violation(
                field,
                rule,
                value,
                pool -> new Pool(pool.name(), placement, pool.devices(), pool.counterSets()));
    }

    private static Violation selector(
            String field, String rule, String value, Requirement... requirements) {
        return placed(
                "nodeSelector.nodeSelectorTerms[0]" + field,
                rule,
                value,
                new Placement.MatchingNodes(new NodeSelector(List.of(requirements))));
    }

    private static Requirement label(String key, Operator operator, String... values) {
        return new Requirement(key, operator, List.of(values), Subject.LABEL);
    }

    private static Requirement field(String key, Operator operator, String... values) {
        return new Requirement(key, operator, List.of(values), Subject.FIELD);
    }
}
