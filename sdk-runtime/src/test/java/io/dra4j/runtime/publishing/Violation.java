// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

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
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.api.device.Taint;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One rule of the API that a pool breaks, and what the host must be told of it.
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
        return Stream.of(attributes(), capacities(), counters(), others(), placements())
                .flatMap(List::stream)
                .toList();
    }

    private static List<Violation> attributes() {
        return List.of(
                attribute("1a", AttributeValue.of(1), "", "C identifier", "1a"),
                attribute("a/b/c", AttributeValue.of(1), "", "C identifier", "a/b/c"),
                attribute("-/a", AttributeValue.of(1), "", "DNS subdomain", "-/a"),
                attribute("a".repeat(33), AttributeValue.of(1), "", "32", "aaaa"),
                attribute("s", AttributeValue.of("x".repeat(65)), ".string", "64 bytes", "xxx"),
                attribute("s", AttributeValue.of("ü".repeat(33)), ".string", "64 bytes", "üüü"),
                attribute("v", AttributeValue.version("1.0"), ".version", "2.0.0", "1.0"),
                attribute("l", new AttributeValue.OfInts(List.of()), ".ints", "empty", "[]"),
                device(".attributes", "at most 48 values", "49", Violation::manyValues),
                attribute("l", strings("a", "x".repeat(65)), ".strings[1]", "64 bytes", "xxx"),
                device("", "at most 32 attributes", "33", Violation::manyAttributes));
    }

    private static Device.Builder manyValues(Device.Builder device) {
        return device.attribute(
                "l", new AttributeValue.OfInts(IntStream.range(0, 49).mapToObj(i -> 1L).toList()));
    }

    private static Device.Builder manyAttributes(Device.Builder device) {
        IntStream.range(0, 30).forEach(i -> device.attribute("a" + i, i));
        IntStream.range(0, 3).forEach(i -> device.capacity("c" + i, Capacity.of(i)));
        return device;
    }

    private static List<Violation> capacities() {
        RequestPolicy one = RequestPolicy.values(ONE, List.of(ONE));
        return List.of(
                capacity(".value", "billionths", "0.1n", "0.1n", null),
                capacity(".value", "at most 9223372036854775807", "8Ei", "8Ei", null),
                device(
                        ".capacity[c].requestPolicy",
                        "multiple allocations",
                        "RequestPolicy",
                        d -> d.capacity("c", new Capacity(ONE, one))),
                policy("default", "must be set", "null", values(null, 1)),
                policy("default", "one of validValues", "3", values(3, 1, 2)),
                policy("default", "at most the capacity", "11", range(11, 1, null, null)),
                policy("default", "at least validRange.min", "1", range(1, 2, null, null)),
                policy("default", "at most validRange.max", "9", range(9, 1, 8, null)),
                policy("default", "some steps", "2", range(2, 1, null, 3)),
                policy("validValues[1]", "greater than 2", "1", values(2, 2, 1)),
                policy("validValues[1]", "greater than 1", "1", values(1, 1, 1)),
                policy("validValues[1]", "at most the capacity", "11", values(1, 1, 11)),
                policy(
                        "validValues",
                        "at most 10",
                        "11",
                        values(1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)),
                policy("validRange.min", "must be set", "null", range(1, null, null, null)),
                policy("validRange.min", "at most the capacity", "11", range(10, 11, null, null)),
                policy("validRange.max", "at most the capacity", "11", range(1, 1, 11, null)),
                policy("validRange.max", "at least validRange.min", "2", range(3, 3, 2, null)),
                policy("validRange.max", "some steps", "9", range(1, 1, 9, 3)),
                policy("validRange.step", "greater than 0", "0", range(1, 1, null, 0)),
                policy("validRange.step", "at most the capacity", "10", range(1, 1, null, 10)));
    }

    private static List<Violation> counters() {
        return List.of(
                consumption(
                        "[0].counterSet", "a counter set of the pool", "none", "none", "memory", 1),
                consumption("[0].counterSet", "DNS label", "A", "A", "memory", 1),
                consumption("[0].counters[none]", "a counter of", "none", "shared", "none", 1),
                consumption("[0].counters[memory].value", "at most", "11", "shared", "memory", 11),
                device(
                        ".consumesCounters[0].counters",
                        "not be empty",
                        "[]",
                        d -> d.consumes(new CounterConsumption("shared", Map.of()))),
                device(
                        ".consumesCounters[1].counterSet",
                        "unique in the device",
                        "shared",
                        d ->
                                d.consumes(part("shared", "memory", 1))
                                        .consumes(part("shared", "memory", 1))),
                sets("sharedCounters[1].name", "unique in the pool", "shared", "shared", 1),
                sets("sharedCounters[1].name", "DNS label", "S.", "S.", 1),
                sets("sharedCounters[1].counters", "not be empty", "[]", "more", 0),
                sets("sharedCounters[1].counters", "at most 32", "33", "more", 33));
    }

    private static List<Violation> others() {
        return List.of(
                device(".taints[0].key", "at most 63", "-a", d -> d.taint(taint("-a", null))),
                device(".taints[0].value", "at most 63", "a b", d -> d.taint(taint("a", "a b"))),
                device(
                        ".taints[0].effect",
                        "must be set",
                        "null",
                        d -> d.taint(Taint.of("a", null, null))),
                device(".taints", "at most 16", "17", Violation::manyTaints),
                binding("bindingFailureConditions", "must be set", "[]", 1, 0),
                binding("bindingConditions", "must be set", "[]", 0, 1),
                binding("bindingConditions", "at most 4", "5", 5, 1),
                device(
                        ".bindingFailureConditions[0]",
                        "unique",
                        "a",
                        d -> d.binding(new BindingConditions(List.of("a"), List.of("a")))),
                device(".future", "must be JSON", "{", d -> d.rawField("future", "{")),
                device(".taints", "its own method", "[]", d -> d.rawField("taints", "[]")),
                new Violation(
                        "devices[gpu-0].name",
                        "unique in the pool",
                        "gpu-0",
                        pool -> withDevices(pool, pool.devices().get(0), pool.devices().get(0))));
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

    private static AttributeValue strings(String... values) {
        return new AttributeValue.OfStrings(List.of(values));
    }

    private static Violation capacity(
            String field, String rule, String value, String amount, RequestPolicy policy) {
        return device(
                ".capacity[c]" + field,
                rule,
                value,
                d ->
                        d.allowMultipleAllocations(true)
                                .capacity("c", new Capacity(new Quantity(amount), policy)));
    }

    private static Violation policy(String field, String rule, String value, RequestPolicy policy) {
        return capacity(".requestPolicy." + field, rule, value, "10", policy);
    }

    private static RequestPolicy values(Integer standard, int... values) {
        List<Quantity> amounts = IntStream.of(values).mapToObj(Quantity::of).toList();
        return new RequestPolicy(amount(standard), amounts, null);
    }

    private static RequestPolicy range(int standard, Integer min, Integer max, Integer step) {
        ValidRange range = new ValidRange(amount(min), amount(max), amount(step));
        return new RequestPolicy(amount(standard), List.of(), range);
    }

    private static Quantity amount(Integer number) {
        return number == null ? null : Quantity.of(number);
    }

    private static CounterConsumption part(String set, String counter, int amount) {
        return new CounterConsumption(set, Map.of(counter, Quantity.of(amount)));
    }

    private static Violation consumption(
            String field, String rule, String value, String set, String counter, int amount) {
        return device(
                ".consumesCounters" + field,
                rule,
                value,
                d -> d.consumes(part(set, counter, amount)));
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

    private static Taint taint(String key, String value) {
        return Taint.of(key, value, Taint.Effect.NO_SCHEDULE);
    }

    private static Device.Builder manyTaints(Device.Builder device) {
        IntStream.range(0, 17).forEach(i -> device.taint(taint("t" + i, null)));
        return device;
    }

    private static Violation binding(
            String field, String rule, String value, int conditions, int failures) {
        BindingConditions binding =
                new BindingConditions(
                        IntStream.range(0, conditions).mapToObj(i -> "c" + i).toList(),
                        IntStream.range(0, failures).mapToObj(i -> "f" + i).toList());
        return device("." + field, rule, value, d -> d.binding(binding));
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
