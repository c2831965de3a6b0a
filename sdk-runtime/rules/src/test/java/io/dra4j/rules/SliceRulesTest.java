// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static io.dra4j.rules.KubernetesVersion.V1_36;
import static io.dra4j.rules.KubernetesVersion.V1_37;
import static io.dra4j.rules.KubernetesVersion.V1_38;
import static io.dra4j.rules.Trees.repeat;
import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors.FieldError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One change per rule to a valid slice, and the error that it must cause. */
class SliceRulesTest {
    private static final Pattern ELEMENTS = Pattern.compile("<(\\d+) ([^<>]+)>");

    /** A change of the spec as a merge patch, and what is wrong then: the field, the reason, and words of the complaint. */
    record Row(KubernetesVersion version, String patch, String field, String reason) {}

    private static Stream<Row> rows(String file) throws IOException {
        return Files.readAllLines(Path.of("src/test/resources/io/dra4j/rules", file)).stream()
                .filter(line -> !line.startsWith("#"))
                .map(SliceRulesTest::row);
    }

    private static Row row(String line) {
        List<String> cells = Stream.of(line.split("\\|")).map(String::strip).toList();
        String[] part = cells.get(0).split(" ");
        KubernetesVersion version = part.length == 1 ? V1_36 : KubernetesVersion.parse(part[0]);
        String field = cells.get(1);
        String change = elementsIn(cells.get(3));
        String reason = "FieldValue" + cells.get(2);
        return switch (part[part.length - 1]) {
            case "device" -> device(version, field, reason, change);
            case "policy" ->
                device(
                        version,
                        ".capacity[memory].requestPolicy" + field,
                        reason,
                        "'allowMultipleAllocations':true,'capacity':{'memory':{'value':'10','requestPolicy':{%s}}}"
                                .formatted(change));
            case "selector" ->
                new Row(
                        version,
                        "{'nodeName':null,'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{%s}]}]}}"
                                .formatted(change),
                        "spec.nodeSelector.nodeSelectorTerms[0].matchExpressions[0]" + field,
                        reason);
            case "consumed" -> {
                String consumed = "'consumesCounters':[" + change + "]";
                yield device(version, ".consumesCounters[0]" + field, reason, consumed);
            }
            case "sets" -> {
                String sets = "{'devices':null,'sharedCounters':[" + change + "]}";
                yield new Row(version, sets, "spec.sharedCounters" + field, reason);
            }
            case "groups" ->
                device(
                        version,
                        ".consumesCounters[0].compatibilityGroups" + field,
                        reason,
                        "'consumesCounters':[{'counterSet':'s','counters':{'c':{'value':'1'}},"
                                + "'compatibilityGroups':[%s]}]".formatted(change));
            case "allocatable" ->
                device(
                        version,
                        ".nodeAllocatableResources" + field,
                        reason,
                        "'capacity':{'cores':{'value':'8'}},'nodeAllocatableResources':{%s}".formatted(change));
            case "partition" -> {
                String attributes = cells.size() > 4 ? cells.get(4) : "";
                yield new Row(version, partition(change, attributes), "spec." + field, reason);
            }
            default -> new Row(version, change, field, reason);
        };
    }

    /** A slice of a device that consumes counters and of one that does not. */
    private static String partition(String name, String attributes) {
        return "{'partitionTypeAttribute':'%s','devices':[{'name':'a','attributes':{%s},'consumesCounters':[%s]},{'name':'b'}]}"
                .formatted(name, attributes, elementsIn("<1 consumedSets>"));
    }

    /** A change of the only device, by its fields. */
    private static Row device(KubernetesVersion version, String field, String reason, String fields) {
        String patch = "{'devices':[{'name':'gpu-0'," + fields + "}]}";
        return new Row(version, patch, "spec.devices[0]" + field, reason);
    }

    private static String elementsIn(String text) {
        String change = text;
        while (ELEMENTS.matcher(change).find()) {
            change = ELEMENTS.matcher(change).replaceAll(SliceRulesTest::elements);
        }
        return change;
    }

    private static String elements(MatchResult match) {
        String[] element = match.group(2).split(" ", 2);
        String more = element.length == 1 ? "" : element[1];
        String pattern = switch (element[0]) {
            case "attributes" -> "'a%d':{'int':1}";
            case "consumedSets" -> "{'counterSet':'s%d','counters':{'c':{'value':'1'}}}";
            case "counters" -> "'c%d':{'value':'1'}";
            case "counterSets" -> "{'name':'s%d','counters':{'c':{'value':'1'}}}";
            case "devices" -> "{'name':'gpu-%d'" + more + "}";
            case "numbers" -> "%d";
            case "taints" -> "{'key':'k%d','effect':'NoSchedule'}";
            case "texts" -> "'%d'";
            default -> "";
        };
        int count = Integer.parseInt(match.group(1));
        return pattern.isEmpty() ? match.group(2).repeat(count) : repeat(",", count, pattern::formatted);
    }

    private static ObjectNode validSpec() {
        return tree("{'driver':'gpu.example.com','nodeName':'node-1',"
                + "'pool':{'name':'node-1','generation':1,'resourceSliceCount':1},'devices':[{'name':'gpu-0'}]}");
    }

    private static List<FieldError> check(KubernetesVersion version, String patch) {
        FeatureGate gate = FeatureGate.DRA_SHARED_CONSUMABLE_CAPACITY;
        return check(new FeatureGates(version, gate.existsIn(version) ? Map.of(gate, true) : Map.of()), patch);
    }

    private static List<FieldError> check(FeatureGates gates, String patch) {
        FieldErrors errors = new FieldErrors();
        new SliceRules(gates).check(Trees.merge(validSpec(), tree(patch)), errors);
        return errors.all();
    }

    static Stream<Row> broken() throws IOException {
        return rows("broken-slices.txt");
    }

    @ParameterizedTest
    @MethodSource("broken")
    void aBrokenRuleBringsComplaintsAboutItsFieldAlone(Row row) {
        List<FieldError> errors = check(row.version(), row.patch());

        assertThat(errors).extracting(FieldError::field).containsOnly(row.field());
        String[] reasonAndWords = row.reason().split(", ", 2);
        assertThat(errors).first().extracting(FieldError::reason).isEqualTo(reasonAndWords[0]);
        assertThat(errors).first().asString().contains(reasonAndWords.length == 1 ? "" : reasonAndWords[1]);
    }

    @ParameterizedTest
    @EnumSource
    void theValidSliceBringsNone(KubernetesVersion version) {
        assertThat(check(version, "{}")).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("tolerated")
    void whatTheServerToleratesBringsNone(Row row) {
        assertThat(check(row.version(), row.patch())).isEmpty();
    }

    static Stream<Row> tolerated() throws IOException {
        return rows("tolerated-slices.txt");
    }

    @Test
    void withoutItsGateFractionsOfStepsDoNotCount() {
        FeatureGate gate = FeatureGate.DRA_FRACTIONAL_CAPACITY_RANGE;
        String range = "'default':'250m','validRange':{'min':'200m','max':'1','step':'100m'}";
        String patch = row("1.37 policy | | | " + range).patch();

        assertThat(check(new FeatureGates(V1_37, Map.of(gate, true)), patch)).hasSize(1);
        assertThat(check(new FeatureGates(V1_37, Map.of(gate, false)), patch)).isEmpty();
    }

    @Test
    void withoutItsGateCountersAreAsBefore() {
        String consumed =
                row("1.38 consumed | | | {'counterSet':'s','counters':{'c':{},'d':{'valueFrom':{'capacityName':'a/b/c'}}}}")
                        .patch();
        String sets =
                row("1.38 sets | | | {'name':'s','counters':{'c':{'value':'1','requestPolicy':{'validValues':['2']}}}}")
                        .patch();

        assertThat(check(new FeatureGates(V1_38, Map.of()), consumed)).isEmpty();
        assertThat(check(new FeatureGates(V1_38, Map.of()), sets)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"V1_37, 0", "V1_38, 1"})
    void numbersThatAreTooLargeAreTheLargestOne(KubernetesVersion version, int duplicates) {
        String values = "'default':'9e18','validValues':['9e18','18446744073709551616','18446744073709551617']";
        String patch = row("policy | | | " + values).patch().replace("'10'", "'9e20'");

        assertThat(check(new FeatureGates(version, Map.of(FeatureGate.DRA_FRACTIONAL_CAPACITY_RANGE, false)), patch))
                .hasSize(duplicates);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    'attributes':{'a/b/c':{'int':1}}                  | attributes
                    'capacity':{'a//c':{'value':'1'}}                 | capacity
                    'taints':[{'key':'','effect':'None'}]             | taints[0].key
                    'nodeSelector':{'nodeSelectorTerms':[{},{}]}      | nodeSelector.nodeSelectorTerms
                    'capacity':{'m':{'value':'1'},'a//c':{'value':'1'}},'nodeAllocatableResources':{'cpu':{'mapping':{'capacityKey':'a//c','capacityMultiplier':'1'}}} | capacity
                    """)
    void devicesOfBefore138AreNotCheckedAgainUntilTheirListChanges(String fields, String field) {
        String placed = fields.contains("Selector") ? fields : "'allNodes':true," + fields;
        ObjectNode old = Trees.merge(
                validSpec(),
                tree("{'nodeName':null,'perDeviceNodeSelection':true,'devices':[{'name':'gpu-0',%s}]}"
                        .formatted(placed)));
        ObjectNode next = Trees.merge(old.deepCopy(), tree("{'pool':{'generation':2}}"));

        assertThat(update(V1_38, old, next)).isEmpty();
        next.withArray("devices").addObject().put("name", "gpu-1").put("allNodes", true);
        assertThat(update(V1_38, old, next)).first().isEqualTo("spec.devices[0]." + field);
        assertThat(update(V1_37, old, next)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"V1_37", "V1_38"})
    void devicesThatDoNotChangeAreCheckedForAChangedSlice(KubernetesVersion version) {
        ObjectNode old = Trees.merge(validSpec(), tree("{'nodeName':null,'allNodes':true}"));
        ObjectNode next = Trees.merge(old.deepCopy(), tree("{'allNodes':null,'perDeviceNodeSelection':true}"));

        assertThat(update(version, old, next)).containsExactly("spec.devices[0]");
    }

    private static List<String> update(KubernetesVersion version, ObjectNode old, ObjectNode next) {
        FieldErrors errors = new FieldErrors();
        new SliceRules(new FeatureGates(version, Map.of())).checkUpdate(next, old, errors);
        return errors.all().stream().map(FieldError::field).toList();
    }

    @Test
    void aDeviceOf134ConsumesThirtyTwoCountersOfAllSets() {
        String consumed = "'consumesCounters':[{'counterSet':'s','counters':{<20 counters>}},"
                + "{'counterSet':'t','counters':{<13 counters>}}]";
        String sets =
                ",'sharedCounters':[{'name':'s','counters':{<20 counters>}},{'name':'t','counters':{<13 counters>}}]}";
        Row row = row("1.34 device | | | " + consumed);

        assertThat(check(row.version(), row.patch().replaceFirst("}$", elementsIn(sets))))
                .extracting(FieldError::toString)
                .hasSize(2)
                .contains("spec.devices[0]: Invalid value: 33: the total number of counters must not exceed 32");
    }

    @Test
    void whatIdentifiesASliceCannotChange() {
        FieldErrors errors = new FieldErrors();
        ObjectNode next = Trees.merge(
                validSpec(), tree("{'driver':'other.example.com','nodeName':'node-2','pool':{'name':'other'}}"));

        new SliceRules(new FeatureGates(V1_36, Map.of())).checkUpdate(next, validSpec(), errors);

        assertThat(errors.all())
                .extracting(FieldError::field)
                .containsExactly("spec.pool.name", "spec.driver", "spec.nodeName");
    }
}
