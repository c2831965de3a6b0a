// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.BindingConditions;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.NodeAllocatableResource.OfCapacity;
import io.dra4j.api.device.NodeAllocatableResource.OfDevice;
import io.dra4j.api.device.NodeAllocatableResource.Overhead;
import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.Taint;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PoolRulesTest {

    private static final PoolRules RULES =
            new PoolRules("gpu.example.com", new SliceCodec("gpu.example.com", "node-a")::refusals);

    private static final String[] FIELDS = """
            name attributes capacity allowMultipleAllocations consumesCounters taints nodeName
            nodeSelector allNodes bindingConditions bindingFailureConditions bindsToNode\
            """.split("\\s+");

    private static final String LONG_DOMAIN = "d".repeat(59) + ".com";

    record Wrong(String field, String rule, @Nullable String value, Device.Builder device) {
        @Override
        public String toString() {
            return field + " " + rule;
        }
    }

    @Test
    void aDeviceAtAllLimitsIsFine() {
        Device.Builder device = device();
        for (int i = 0; i < 22; i++) {
            device.attribute(LONG_DOMAIN + "/" + "a".repeat(30) + i % 10 + i / 10, "ü".repeat(32));
        }
        device.attribute(
                "list",
                new AttributeValue.OfInts(Stream.generate(() -> 1L).limit(26).toList()));
        IntStream.range(0, 9).forEach(i -> device.capacity("c" + i, Capacity.of("-1")));
        IntStream.range(0, 16).forEach(i -> device.taint(taint("example.com/t" + i, "v".repeat(63))));
        device.binding(new BindingConditions(List.of("a", "b", "c", "d"), List.of("x/a", "x/b", "x/c", "x/d")));

        assertThat(RULES.problems(pool(device))).isEmpty();
    }

    static Stream<Wrong> fields() {
        return Stream.of(taintFields(), bindingAndRawFields(), counterFields(), newFields())
                .flatMap(wrong -> wrong);
    }

    private static Stream<Wrong> taintFields() {
        Instant first = Instant.parse("0001-01-01T00:00:00Z");
        return Stream.of(
                refused("taints[0].key", device().taint(taint("-a", ""))),
                refused("taints[0].key", device().taint(taint("a/", ""))),
                refused("taints[0].key", device().taint(taint("A.com/b", ""))),
                refused("taints[0].value", device().taint(taint("a", "v".repeat(64)))),
                refused("taints[0].value", device().taint(taint("a", "b c"))),
                wrong("taints[0].timeAdded", "years 1 to 9999", device().taint(at(Instant.MAX))),
                wrong("taints[0].timeAdded", "years 1 to 9999", device().taint(at(first))),
                refused("taints", taints(17)));
    }

    private static Stream<Wrong> bindingAndRawFields() {
        List<String> five = List.of("a", "b", "c", "d", "e");
        return Stream.of(
                refused("", binds(List.of(), List.of("f"))),
                refused("", binds(List.of("c"), List.of())),
                refused("bindingConditions", binds(five, List.of("f"))),
                refused("bindingFailureConditions", binds(List.of("f"), five)),
                refused("bindingFailureConditions", binds(List.of("a"), List.of("a"))),
                refused("bindingConditions[1]", binds(List.of("a", "a"), List.of("b"))),
                refused("bindingConditions[0]", binds(List.of("a b"), List.of("b"))),
                wrong("future", "must be JSON", "{", device().rawField("future", "{")),
                wrong("future", "must be JSON", device().rawField("future", "{} {}")),
                wrong("future", "not null or nothing", device().rawField("future", " ")),
                wrong("future", "not null or nothing", device().rawField("future", "null")),
                wrong("rawFields", "named as", device().rawField("", "1")));
    }

    private static Stream<Wrong> newFields() {
        String groups = "consumesCounters[0].compatibilityGroups";
        String cpu = "nodeAllocatableResources[cpu]";
        Quantity zero = Quantity.of(0);
        return Stream.of(
                refused(groups, grouped("a", "b", "c")),
                refused(groups + "[1]", grouped("a", "a")),
                refused(groups + "[0]", grouped("A")),
                refused(cpu, taking("cpu", null, null)),
                refused("nodeAllocatableResources", taking("example.com/a", new OfDevice(one()), null)),
                refused(cpu + ".mapping.capacityKey", taking("cpu", new OfCapacity("none", one()), null)),
                refused(cpu + ".mapping.deviceMultiplier", taking("cpu", new OfDevice(zero), null)),
                refused(cpu + ".overhead", taking("cpu", null, new Overhead(null, null))),
                refused(cpu + ".overhead.perPod", taking("cpu", null, new Overhead(Quantity.of(-1), null))),
                wrong(
                        cpu + ".overhead.perPod",
                        "billionths",
                        "1e-10",
                        taking("cpu", null, new Overhead(new Quantity("1e-10"), null))),
                wrong(
                        "nodeAllocatableResources",
                        "its own method",
                        device().rawField("nodeAllocatableResources", "{}")));
    }

    private static Device.Builder grouped(String... groups) {
        return device().consumes(CounterConsumption.builder("shared")
                .counter("memory", one())
                .compatibilityGroups(List.of(groups))
                .build());
    }

    private static Device.Builder taking(
            String name, NodeAllocatableResource.@Nullable Mapping mapping, @Nullable Overhead overhead) {
        return device().nodeAllocatableResource(
                        name,
                        NodeAllocatableResource.builder()
                                .mapping(mapping)
                                .overhead(overhead)
                                .build());
    }

    @Test
    void fieldsOfThePoolItselfAreChecked() {
        Pool pool = pool(grouped("a"));

        assertThat(RULES.problems(pool.toBuilder()
                        .partitionTypeAttribute("a.example/type")
                        .skipNodeOperation(NodeOperation.PREPARE)
                        .build()))
                .extracting(Problem::toString)
                .satisfiesExactly(
                        it -> assertThat(it).startsWith("pool node-a, field skipNodeOperations: "),
                        it -> assertThat(it)
                                .startsWith("pool node-a, device gpu-0, field ")
                                .contains("a.example/type"));
        assertThat(RULES.problems(
                        pool.toBuilder().partitionTypeAttribute("type").build()))
                .singleElement()
                .satisfies(it -> assertThat(it.field()).isEqualTo("partitionTypeAttribute"));
        assertThat(RULES.problems(pool(grouped("a").attribute("type", "half")).toBuilder()
                        .partitionTypeAttribute("gpu.example.com/type")
                        .build()))
                .isEmpty();
    }

    private static Stream<Wrong> counterFields() {
        String set = "consumesCounters[0].counterSet";
        String counters = "consumesCounters[0].counters";
        String memory = counters + "[memory].value";
        Device.Builder nothing = device().consumes(CounterConsumption.of("shared", Map.of()));
        CounterConsumption one = CounterConsumption.of("shared", Map.of("memory", one()));
        Device.Builder twice = device().consumes(one).consumes(one);
        return Stream.of(
                wrong(set, "a counter set of the pool", "none", consumes("none", "memory", "1")),
                refused(set, consumes("A", "memory", "1")),
                wrong(counters + "[none]", "a counter of", "none", consumes("shared", "none", "1")),
                refused(counters, consumes("shared", "M", "1")),
                wrong(memory, "at most what", "1025Mi", consumes("shared", "memory", "1025Mi")),
                wrong(memory, "negative", consumes("shared", "memory", "-1")),
                refused(counters, nothing),
                refused("consumesCounters[1]", twice));
    }

    private static Device.Builder binds(List<String> conditions, List<String> failures) {
        return device().binding(new BindingConditions(conditions, failures));
    }

    private static Device.Builder consumes(String set, String counter, String amount) {
        return device().consumes(CounterConsumption.of(set, Map.of(counter, new Quantity(amount))));
    }

    @ParameterizedTest
    @MethodSource("fields")
    void aDeviceThatBreaksARuleIsRefusedWithAllThereIsToKnow(Wrong wrong) {
        Pool pool = pool(wrong.device());

        List<Problem> problems = RULES.problems(pool);

        assertThat(problems).anySatisfy(problem -> {
            assertThat(problem.pool()).isEqualTo(pool.name());
            assertThat(problem.device()).hasToString("gpu-0");
            assertThat(problem.field())
                    .startsWith("devices[gpu-0]" + (wrong.field().isEmpty() ? "" : ".") + wrong.field());
            assertThat(problem.rule()).contains(wrong.rule());
            if (wrong.value() != null) {
                assertThat(problem.rule()).startsWith("must ");
                assertThat(problem.value()).contains(wrong.value());
            }
            assertThat(problem).hasToString(line(problem));
        });
        assertThat(RULES.problems(pool(device()))).as("all else is fine").isEmpty();
    }

    private static String line(Problem problem) {
        return "pool node-a, device gpu-0, field "
                + problem.field()
                + ": "
                + problem.rule()
                + (problem.value() == null ? "" : "; found " + problem.value());
    }

    @Test
    void counterSetsAreNamedOnceAndHoldSomething() {
        Pool pool = pool(device())
                .withCounterSets(List.of(
                        CounterSet.of("shared", Map.of("memory", one())),
                        CounterSet.of("shared", Map.of("A", one())),
                        CounterSet.of("B", Map.of()),
                        CounterSet.of("n".repeat(63), Map.of("n".repeat(64), one())),
                        CounterSet.of("c", counters(33))));

        assertThat(RULES.problems(pool))
                .extracting(Problem::field)
                .containsExactlyInAnyOrder(
                        "sharedCounters[1]",
                        "sharedCounters[1].counters",
                        "sharedCounters[2].name",
                        "sharedCounters[2].counters",
                        "sharedCounters[3].counters",
                        "sharedCounters[4].counters");
        assertThat(RULES.problems(pool)).extracting(Problem::device).containsOnlyNulls();
    }

    @Test
    void twoCounterSetsAreEnoughForADevice() {
        List<CounterSet> sets = new ArrayList<>();
        Device.Builder device = device();
        for (int i = 0; i < 3; i++) {
            sets.add(CounterSet.of("s" + i, counters(32)));
            device.consumes(CounterConsumption.of("s" + i, counters(32)));
        }

        assertThat(RULES.problems(pool(device).withCounterSets(sets)))
                .extracting(Problem::field)
                .containsExactly("devices[gpu-0].consumesCounters");
    }

    @Test
    void deviceNamesAreUniqueInThePool() {
        Pool pool = Pool.ofNode("node-a", List.of(device().build(), device().build()));

        assertThat(RULES.problems(pool))
                .extracting(Problem::toString)
                .containsExactly("pool node-a, device gpu-0, field devices[gpu-0]: must have a name that is"
                        + " unique in the pool; found gpu-0");
    }

    @Test
    void oneNameIsNotThereInBothForms() {
        Device.Builder both = device().attribute("model", "A")
                .attribute("gpu.example.com/model", "B")
                .attribute("other.example.com/model", "C")
                .capacity("memory", "1")
                .capacity("gpu.example.com/memory", "1")
                .capacity("gpu.example.com/model", "1");

        assertThat(RULES.problems(pool(both)))
                .extracting(Problem::field)
                .containsExactly(
                        "devices[gpu-0].attributes[gpu.example.com/model]",
                        "devices[gpu-0].capacity[gpu.example.com/memory]");
        assertThat(RULES.problems(pool(device().attribute("gpu.example.com/model", "B"))))
                .as("the long form alone")
                .isEmpty();
    }

    @Test
    void whatHasAMethodOfItsOwnIsNoRawField() {
        for (String field : FIELDS) {
            Pool pool = pool(device().rawField(field, "[]"));
            String rule = "must be set by its own method, not as a raw field; found \"[]\"";
            assertThat(RULES.problems(pool))
                    .singleElement()
                    .asString()
                    .endsWith("field devices[gpu-0]." + field + ": " + rule);
            assertThatIllegalArgumentException()
                    .as("the codec knows the same fields")
                    .isThrownBy(() -> SliceCodec.canonical(content(pool)));
        }
    }

    private static Content content(Pool pool) {
        return new Content(pool.name(), 1, 1, pool.placement(), pool.devices(), List.of());
    }

    @Test
    void whatAnotherPublishesIsNotOursToCheck() {
        Pool pool = Pool.builder("p")
                .placement(new Placement.PublishedElsewhere())
                .devices(List.of(device().attribute("-", 1).build()))
                .build();

        assertThat(RULES.problems(pool)).isEmpty();
    }

    @Test
    void noNameOfTheProvidersBreaksALine() {
        CounterSet set = CounterSet.of("\n", Map.of("c", one()));
        Device.Builder device =
                consumes("\n", "c", "2").consumes(CounterConsumption.of("\n", Map.of("other\n", one())));

        assertThat(RULES.problems(pool(device).withCounterSets(List.of(set))))
                .hasSizeGreaterThan(4)
                .allSatisfy(problem -> assertThat(problem.toString()).hasLineCount(1));
    }

    @Test
    void manyProblemsAreCutToWhatAPersonReads() {
        List<Device> devices = IntStream.range(0, 100_000)
                .mapToObj(i -> Device.builder("d" + i)
                        .attribute("-\n" + i, "y".repeat(1000))
                        .build())
                .toList();

        List<Problem> problems = RULES.problems(Pool.ofNode("node-a", devices));

        assertThat(problems).hasSize(100);
        assertThat(problems)
                .allSatisfy(problem -> assertThat(problem.toString().length()).isLessThan(600));
        assertThat(problems.toString()).contains("\\u{a}").doesNotContain("\n");
    }

    /** A device that the rule book refuses, in its own words. */
    private static Wrong refused(String field, Device.Builder device) {
        return new Wrong(field, "", null, device);
    }

    private static Wrong wrong(String field, String rule, Device.Builder device) {
        return wrong(field, rule, "", device);
    }

    private static Wrong wrong(String field, String rule, String value, Device.Builder device) {
        return new Wrong(field, rule, value, device);
    }

    private static Device.Builder device() {
        return Device.builder("gpu-0");
    }

    private static Pool pool(Device.Builder device) {
        List<CounterSet> sets = List.of(CounterSet.of("shared", Map.of("memory", new Quantity("1Gi"))));
        return Pool.ofNode("node-a", List.of(device.build())).withCounterSets(sets);
    }

    private static Taint taint(String key, String value) {
        return Taint.of(key, value, Taint.Effect.NO_SCHEDULE);
    }

    private static Taint at(Instant time) {
        return new Taint("a", null, Taint.Effect.NONE, time);
    }

    private static Device.Builder taints(int count) {
        Device.Builder device = device();
        IntStream.range(0, count).forEach(i -> device.taint(taint("t" + i, "")));
        return device;
    }

    private static Quantity one() {
        return Quantity.of(1);
    }

    private static Map<String, Quantity> counters(int count) {
        return IntStream.range(0, count).boxed().collect(Collectors.toMap(i -> "c" + i, i -> one()));
    }
}
