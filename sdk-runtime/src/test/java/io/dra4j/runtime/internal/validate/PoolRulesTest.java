// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.AttributeValue.OfBools;
import io.dra4j.api.device.AttributeValue.OfInts;
import io.dra4j.api.device.AttributeValue.OfStrings;
import io.dra4j.api.device.AttributeValue.OfVersions;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.NodeAllocatableResource.OfCapacity;
import io.dra4j.api.device.NodeAllocatableResource.OfDevice;
import io.dra4j.api.device.NodeAllocatableResource.Overhead;
import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.NodeSelector.Operator;
import io.dra4j.api.device.NodeSelector.Requirement;
import io.dra4j.api.device.NodeSelector.Subject;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.runtime.internal.cluster.ClaimDecoding;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class PoolRulesTest {

    private static final PoolRules RULES =
            new PoolRules("gpu.example.com", new SliceCodec("gpu.example.com", "node-a")::refusals);

    private static final String[] FIELDS = """
            name attributes capacity allowMultipleAllocations consumesCounters taints nodeName
            nodeSelector allNodes bindingConditions bindingFailureConditions bindsToNode\
            """.split("\\s+");

    private static final Quantity ONE = Quantity.of(1);
    private static final String ODD = "\n\0\u202E\uD800%s";

    /** A device that breaks a rule, and how the problem is shown: its field, and words of the rule with the value. */
    record Wrong(String field, String words, Device.Builder device) {
        @Override
        public String toString() {
            return field + " " + words;
        }
    }

    static Stream<Wrong> fields() throws IOException {
        return Stream.of(
                        rows("broken-devices.txt").map(row -> new Wrong(row[0], row[1], decoded(row[2]))),
                        resources(),
                        attributesAndRawFields(),
                        placements())
                .flatMap(wrong -> wrong);
    }

    /** Rows of a table, whose last column is a device's fields in JSON. */
    private static Stream<String[]> rows(String file) throws IOException {
        return Files.readAllLines(Path.of("src/test/resources/io/dra4j/runtime/internal/validate", file)).stream()
                .map(line -> line.split(" \\| ", 3));
    }

    private static Device.Builder decoded(String fields) {
        return ClaimDecoding.device("{\"name\":\"gpu-0\"," + fields + "}").toBuilder();
    }

    private static Stream<Wrong> resources() {
        String cpu = "nodeAllocatableResources[cpu].";
        String fine = "must be a whole number of billionths; found 1e-10";
        Quantity finer = new Quantity("1e-10");
        return Stream.of(
                wrong(cpu + "mapping.deviceMultiplier", fine, taking(new OfDevice(finer), null)),
                wrong(cpu + "mapping.capacityMultiplier", fine, taking(new OfCapacity("c", finer), null)),
                wrong(cpu + "overhead.perPod", fine, taking(null, new Overhead(finer, null))),
                wrong(cpu + "overhead.perContainer", fine, taking(null, new Overhead(null, finer))),
                wrong(cpu + "overhead", "Invalid value", taking(null, new Overhead(null, null))));
    }

    private static Stream<Wrong> attributesAndRawFields() {
        String list = "attributes[a].";
        String unicode = "must be valid Unicode; found";
        String name = "Invalid value: \"1a\"";
        return Stream.of(
                wrong("attributes", name, device().attribute("1a", new OfStrings(List.of("a")))),
                wrong("attributes", name, device().attribute("1a", new OfInts(List.of(1L)))),
                wrong("attributes", name, device().attribute("1a", new OfBools(List.of(true)))),
                wrong("attributes", name, device().attribute("1a", new OfVersions(List.of("1.0.0")))),
                wrong(list + "string", unicode, attribute(AttributeValue.of("\uD800"))),
                wrong(list + "strings[1]", unicode, attribute(new OfStrings(List.of("", "\uD800")))),
                wrong(list + "strings", "must not be empty; found []", attribute(new OfStrings(List.of()))),
                wrong(list + "ints", "must not be empty; found []", attribute(new OfInts(List.of()))),
                wrong(list + "bools", "must not be empty; found []", attribute(new OfBools(List.of()))),
                wrong(list + "versions", "must not be empty; found []", attribute(new OfVersions(List.of()))),
                wrong("future", "must be JSON", device().rawField("future", "{")),
                wrong("future", "must be JSON", device().rawField("future", "{} {}")),
                wrong("future", "must be a JSON value other than null", device().rawField("future", " ")),
                wrong("future", "must be a JSON value other than null", device().rawField("future", "null")),
                wrong("rawFields", "must be named like a field of the API", device().rawField("", "1")),
                wrong(
                        "nodeAllocatableResources",
                        "must be set by its own method",
                        device().rawField("nodeAllocatableResources", "{}")));
    }

    private static Stream<Wrong> placements() {
        return Stream.of(new Placement.ThisNode(), new Placement.PerDevice(), new Placement.PublishedElsewhere())
                .map(placement -> wrong("", "must be on a named node", device().placement(placement)));
    }

    private static Device.Builder attribute(AttributeValue value) {
        return device().attribute("a", value);
    }

    private static Device.Builder grouped(String... groups) {
        return device().consumes(CounterConsumption.builder("shared")
                .counter("memory", ONE)
                .compatibilityGroups(List.of(groups))
                .build());
    }

    private static Device.Builder taking(
            NodeAllocatableResource.@Nullable Mapping mapping, @Nullable Overhead overhead) {
        return device().capacity("c", "1")
                .nodeAllocatableResource(
                        "cpu",
                        NodeAllocatableResource.builder()
                                .mapping(mapping)
                                .overhead(overhead)
                                .build());
    }

    private static Device.Builder consumes(String set, String counter, String amount) {
        return device().consumes(CounterConsumption.of(set, Map.of(counter, new Quantity(amount))));
    }

    @ParameterizedTest
    @MethodSource("fields")
    void aDeviceThatBreaksARuleIsRefusedWithAllThereIsToKnow(Wrong wrong) {
        String field = "devices[gpu-0]" + (wrong.field().isEmpty() ? "" : "." + wrong.field());

        assertThat(RULES.problems(pool(wrong.device())))
                .extracting(Problem::toString)
                .anySatisfy(line -> assertThat(line)
                        .startsWith("pool node-a, device gpu-0, field " + field + ": " + wrong.words()));
    }

    /** The book judges no device that cannot be written, and says nothing of it. */
    @ParameterizedTest
    @MethodSource("attributesAndRawFields")
    void aDeviceThatCannotBeWrittenHasThatProblemAlone(Wrong wrong) {
        assertThat(RULES.problems(pool(wrong.device()))).hasSize(1);
    }

    @Test
    void whatServersRefuseIsInTheirWords() {
        assertThat(RULES.problems(pool(grouped("a", "a"))))
                .singleElement()
                .hasToString("pool node-a, device gpu-0, field devices[gpu-0].consumesCounters[0]"
                        + ".compatibilityGroups[1]: Duplicate value: \"a\"");
    }

    static Stream<Device.Builder> devices() throws IOException {
        return rows("fine-devices.txt").map(row -> decoded(row[0]));
    }

    @ParameterizedTest
    @MethodSource("devices")
    void aDeviceThatBreaksNoneIsFine(Device.Builder device) {
        assertThat(RULES.problems(pool(device))).isEmpty();
    }

    @Test
    void aPoolIsOnNoNamedNode() {
        Pool pool = pool(device()).toBuilder()
                .placement(new Placement.NamedNode("node-b"))
                .build();

        assertThat(RULES.problems(pool))
                .singleElement()
                .asString()
                .startsWith("pool node-a, field nodeName: must be absent")
                .endsWith("; found \"node-b\"");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GREATER_THAN | 17  |",
                "LESS_THAN    | 1.5 | matchExpressions[0].values: must be one whole number with Lt; found [1.5]",
                "GREATER_THAN | -1  | matchExpressions[0].values: must be one whole number with Gt; found [-1]",
                "             |     | : must have a requirement, as it matches no node without one",
            })
    void aSelectorMatchesNodes(@Nullable Operator operator, @Nullable String value, @Nullable String problem) {
        List<Requirement> requirements = operator == null
                ? List.of()
                : List.of(new Requirement("rack", operator, List.of(String.valueOf(value)), Subject.LABEL));
        Placement placement = new Placement.MatchingNodes(new NodeSelector(requirements));
        Pool ofPool = pool(device()).toBuilder().placement(placement).build();
        Pool ofDevice = pool(device().placement(placement)).toBuilder()
                .placement(new Placement.PerDevice())
                .build();
        String term = "nodeSelector.nodeSelectorTerms[0]" + (operator == null ? "" : ".") + problem;

        if (problem == null) {
            assertThat(RULES.problems(ofPool)).isEmpty();
            assertThat(RULES.problems(ofDevice)).isEmpty();
        } else {
            assertThat(RULES.problems(ofPool))
                    .extracting(Problem::toString)
                    .anySatisfy(line -> assertThat(line).startsWith("pool node-a, field " + term));
            assertThat(RULES.problems(ofDevice))
                    .extracting(Problem::toString)
                    .anySatisfy(line ->
                            assertThat(line).startsWith("pool node-a, device gpu-0, field devices[gpu-0]." + term));
        }
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

    @Test
    void counterSetsAreNamedOnceAndHoldSomething() {
        Pool pool = pool(device())
                .withCounterSets(List.of(
                        CounterSet.of("shared", Map.of("memory", ONE)),
                        CounterSet.of("shared", Map.of("A", ONE)),
                        CounterSet.of("B", Map.of()),
                        CounterSet.of("n".repeat(63), Map.of("n".repeat(64), ONE)),
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
    void deviceNamesAreUniqueInThePool() {
        Pool pool = Pool.ofNode("node-a", List.of(device().build(), device().build()));

        assertThat(RULES.problems(pool))
                .extracting(Problem::toString)
                .containsExactly("pool node-a, device gpu-0, field devices[gpu-0]: must be the only device of its name"
                        + " in the pool; two have it; found gpu-0");
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
        CounterSet set = CounterSet.of(ODD, Map.of("c", ONE));
        Device.Builder device =
                consumes(ODD, "c", "2").consumes(CounterConsumption.of(ODD, Map.of("other" + ODD, ONE)));

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

    private static Wrong wrong(String field, String words, Device.Builder device) {
        return new Wrong(field, words, device);
    }

    private static Device.Builder device() {
        return Device.builder("gpu-0");
    }

    private static Pool pool(Device.Builder device) {
        List<CounterSet> sets = List.of(CounterSet.of("shared", Map.of("memory", new Quantity("1Gi"))));
        return Pool.ofNode("node-a", List.of(device.build())).withCounterSets(sets);
    }

    private static Map<String, Quantity> counters(int count) {
        return IntStream.range(0, count).boxed().collect(Collectors.toMap(i -> "c" + i, i -> ONE));
    }
}
