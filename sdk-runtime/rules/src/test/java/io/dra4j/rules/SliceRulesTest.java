// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static io.dra4j.rules.KubernetesVersion.V1_36;
import static io.dra4j.rules.KubernetesVersion.V1_37;
import static io.dra4j.rules.Trees.repeat;
import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors.FieldError;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One change per rule to a valid slice, and the complaint that it must bring. */
class SliceRulesTest {
    /**
     * The release unless it is 1.36, the part of the spec that is changed, the field of the
     * complaint there, its reason, and the change, with {@code <N elements>}.
     */
    private static final String BROKEN = """
            spec | spec.driver | Required | {'driver':null}
            spec | spec.driver | Invalid | {'driver':'gpu_example'}
            spec | spec.driver | TooLong | {'driver':'<64 d>'}
            spec | spec.pool.name | Required | {'pool':{'name':''}}
            spec | spec.pool.name | Invalid | {'pool':{'name':'a//b'}}
            spec | spec.pool.name | TooLong | {'pool':{'name':'<63 abc/>abc'}}
            spec | spec.pool.generation | Invalid | {'pool':{'generation':-1}}
            spec | spec.pool.resourceSliceCount | Invalid | {'pool':{'resourceSliceCount':0}}
            spec | spec | Required | {'nodeName':null}
            spec | spec | Invalid | {'allNodes':true}
            spec | spec.nodeName | Invalid | {'nodeName':'','allNodes':true}
            spec | spec.nodeName | Invalid | {'nodeName':'Node_1'}
            spec | spec.allNodes | Invalid | {'allNodes':false}
            spec | spec.perDeviceNodeSelection | Invalid | {'perDeviceNodeSelection':false}
            spec | spec.nodeSelector.nodeSelectorTerms | Required | {'nodeName':null,'nodeSelector':{'nodeSelectorTerms':[]}}
            spec | spec.nodeSelector.nodeSelectorTerms | Invalid | {'nodeName':null,'nodeSelector':{'nodeSelectorTerms':[{},{}]}}
            selector | .operator | Invalid | 'key':'zone','operator':'Like'
            selector | .values | Required | 'key':'zone','operator':'In'
            selector | .values | Forbidden | 'key':'zone','operator':'Exists','values':['a']
            selector | .values[0] | Invalid | 'key':'zone','operator':'In','values':['a b']
            selector | .key | Invalid | 'key':'-','operator':'Exists'
            spec | spec | Invalid | {'sharedCounters':[]}
            spec | spec.devices[1] | Duplicate | {'devices':[{'name':'a'},{'name':'a'}]}
            spec | spec.devices | TooMany | {'devices':[<129 devices>]}
            spec | spec.devices | TooMany | {'devices':[<65 devices ,'attributes':{'a':{'ints':[1]}}>]}
            1.35 spec | spec.devices | TooMany | {'devices':[<65 devices ,'consumesCounters':[{'counterSet':'s','counters':{'c':{'value':'1'}}}]>]}
            spec | spec.devices[0].name | Invalid | {'devices':[{}]}
            spec | spec.devices[0].name | Invalid | {'devices':[{'name':'gpu.0'}]}
            spec | spec.devices[0].name | Invalid | {'devices':[{'name':'<64 g>'}]}
            device | | Invalid | 'attributes':{<33 attributes>}
            device | | Invalid | 'attributes':{'a':{'ints':[<49 numbers>]}}
            device | .attributes | Invalid | 'attributes':{'0a':{'int':1}}
            device | .attributes | Invalid | 'attributes':{'/a':{'int':1}}
            1.35 device | .attributes[/a] | Invalid | 'attributes':{'/a':{'int':1}}
            1.37 device | .attributes | Invalid | 'attributes':{'a/b/c':{'int':1}}
            device | .attributes | Invalid | 'attributes':{'a.b/':{'int':1}}
            device | .attributes | TooLong | 'attributes':{'<33 a>':{'int':1}}
            device | .attributes | TooLong | 'attributes':{'<64 d>/a':{'int':1}}
            device | .attributes[a] | Invalid | 'attributes':{'a':{}}
            device | .attributes[a] | Invalid | 'attributes':{'a':{'int':1,'bool':true}}
            device | .attributes[a].ints | Invalid | 'attributes':{'a':{'ints':[]}}
            device | .attributes[a].string | TooLong | 'attributes':{'a':{'string':'<65 s>'}}
            device | .attributes[a].strings[1] | TooLong | 'attributes':{'a':{'strings':['s','<65 s>']}}
            device | .attributes[a].version | Invalid | 'attributes':{'a':{'version':'1.2'}}
            device | .attributes[a].version | Invalid | 'attributes':{'a':{'version':'v1.2.3'}}
            device | .capacity | Invalid | 'capacity':{'a-b':{'value':'1'}}
            device | .taints[0].key | Invalid | 'taints':[{'key':'','effect':'None'}]
            device | .taints[0].value | Invalid | 'taints':[{'key':'k','value':'a b','effect':'None'}]
            device | .taints[0].effect | Required | 'taints':[{'key':'k'}]
            device | .taints[0].effect | NotSupported | 'taints':[{'key':'k','effect':'Prefer'}]
            device | .taints | TooMany | 'taints':[<17 taints>]
            1.34 device | .taints | TooMany | 'taints':[<5 taints>]
            device | | Invalid | 'nodeName':'node-1'
            spec | spec.devices[0] | Required | {'nodeName':null,'perDeviceNodeSelection':true,'devices':[{'name':'gpu-0'}]}
            spec | spec.devices[0].allNodes | Invalid | {'nodeName':null,'perDeviceNodeSelection':true,'devices':[{'name':'gpu-0','nodeName':'n','allNodes':false}]}
            spec | spec.devices[0].nodeName | Invalid | {'nodeName':null,'perDeviceNodeSelection':true,'devices':[{'name':'gpu-0','nodeName':'','allNodes':true}]}
            spec | spec.devices[0] | Invalid | {'nodeName':null,'perDeviceNodeSelection':true,'devices':[{'name':'gpu-0','nodeName':'n','allNodes':true}]}
            device | .bindingFailureConditions | Invalid | 'bindingConditions':['a']
            device | .bindingConditions | Invalid | 'bindingFailureConditions':['a']
            device | .bindingConditions[0] | Invalid | 'bindingConditions':['a b'],'bindingFailureConditions':['b']
            device | .bindingConditions[1] | Duplicate | 'bindingConditions':['a','a'],'bindingFailureConditions':['b']
            device | .bindingFailureConditions[0] | Invalid | 'bindingConditions':['a'],'bindingFailureConditions':['a']
            device | .bindingConditions | TooMany | 'bindingConditions':['a','b','c','d','e'],'bindingFailureConditions':['f']
            device | .nodeAllocatableResourceMappings[example.com/x] | Invalid | 'nodeAllocatableResourceMappings':{'example.com/x':{'allocationMultiplier':'1'}}
            device | .nodeAllocatableResourceMappings[cpu].allocationMultiplier | Invalid | 'nodeAllocatableResourceMappings':{'cpu':{'allocationMultiplier':'0'}}
            device | .nodeAllocatableResourceMappings[cpu].capacityKey | Invalid | 'nodeAllocatableResourceMappings':{'cpu':{'capacityKey':'none'}}
            device | .capacity[memory].requestPolicy | Forbidden | 'capacity':{'memory':{'value':'10','requestPolicy':{'default':'1'}}}
            policy | | Forbidden | 'default':'1','validValues':['1'],'validRange':{'min':'1'}
            policy | .default | Required | 'validValues':['1']
            policy | .validValues | Invalid | 'default':'2','validValues':['1']
            policy | .validValues[1] | Invalid | 'default':'1','validValues':['2','1']
            policy | .validValues[1] | Duplicate | 'default':'1','validValues':['1','1']
            policy | .validValues[1] | Invalid | 'default':'1','validValues':['1','11']
            policy | .validValues | TooMany | 'default':'1','validValues':[<11 texts>]
            policy | .validRange.min | Required | 'default':'1','validRange':{'max':'2'}
            policy | .validRange.max | Invalid | 'default':'1','validRange':{'min':'1','max':'11'}
            policy | .validRange.min | Invalid | 'default':'1','validRange':{'min':'2'}
            1.37 policy | .validRange.default | Invalid | 'default':'1','validRange':{'min':'2'}
            policy | .validRange.max | Invalid | 'default':'5','validRange':{'min':'2','max':'4'}
            1.37 policy | .validRange.default | Invalid | 'default':'5','validRange':{'min':'2','max':'4'}
            policy | .validRange.step | Invalid | 'default':'3','validRange':{'min':'2','step':'2'}
            1.37 policy | .validRange.step | Invalid | 'default':'2','validRange':{'min':'2','step':'-2'}
            1.37 policy | .validRange.min | Invalid | 'default':'2','validRange':{'min':'-2','step':'2'}
            policy | .validRange.step | Invalid | 'default':'2','validRange':{'min':'2','max':'5','step':'2'}
            policy | .validRange.step | Invalid | 'default':'2','validRange':{'min':'2','step':'9'}
            policy | .validRange.step | Invalid | 'default':'2','validRange':{'min':'2','step':'0'}
            consumed | .counterSet | Required | {'counters':{'c':{'value':'1'}}}
            consumed | .counterSet | Invalid | {'counterSet':'A','counters':{'c':{'value':'1'}}}
            consumed | .counters | Required | {'counterSet':'s'}
            consumed | .counters | Invalid | {'counterSet':'s','counters':{'C':{'value':'1'}}}
            consumed | .counters | TooMany | {'counterSet':'s','counters':{<33 counters>}}
            device | .consumesCounters | TooMany | 'consumesCounters':[<3 consumedSets>]
            device | .consumesCounters[1] | Duplicate | 'consumesCounters':[<1 consumedSets>,<1 consumedSets>]
            sets | [0].name | Required | {'counters':{'c':{'value':'1'}}}
            sets | [0].name | Invalid | {'name':'S','counters':{'c':{'value':'1'}}}
            sets | [0].counters | Required | {'name':'s','counters':{}}
            sets | [0].counters | Invalid | {'name':'s','counters':{'a.b':{'value':'1'}}}
            sets | [1] | Duplicate | <1 counterSets>,<1 counterSets>
            sets | [0].counters | TooMany | {'name':'s','counters':{<33 counters>}}
            sets | | TooMany | <9 counterSets>
            1.37 spec | spec.partitionTypeAttribute | Invalid | {'partitionTypeAttribute':'gpu.example.com/type'}
            1.37 partition | partitionTypeAttribute | Invalid | type |
            1.37 partition | partitionTypeAttribute | Invalid | a.com/b/type |
            1.37 partition | devices[0].attributes[gpu.example.com/type] | Required | gpu.example.com/type |
            1.37 partition | devices[0].attributes[gpu.example.com/type] | Invalid | gpu.example.com/type | 'type':{'int':1}
            1.37 spec | spec.skipNodeOperations[0] | NotSupported | {'skipNodeOperations':['NodePublish']}
            1.37 spec | spec.skipNodeOperations[1] | Duplicate | {'skipNodeOperations':['*','*']}
            1.37 spec | spec.skipNodeOperations | Invalid | {'skipNodeOperations':['NodePrepareResources']}
            1.37 groups | | TooMany | 'a','b','c'
            1.37 groups | [1] | Duplicate | 'a','a'
            1.37 groups | [0] | Invalid | 'A'
            1.37 groups | [0] | Required | ''
            1.37 allocatable | [example.com/x] | Invalid | 'example.com/x':{'overhead':{'perPod':'1'}}
            1.37 allocatable | [cpu] | Required | 'cpu':{}
            1.37 allocatable | [cpu].mapping | Invalid | 'cpu':{'mapping':{}}
            1.37 allocatable | [cpu].mapping | Invalid | 'cpu':{'mapping':{'capacityKey':'cores','capacityMultiplier':'1','deviceMultiplier':'1'}}
            1.37 allocatable | [cpu].mapping.capacityKey | Invalid | 'cpu':{'mapping':{'capacityKey':'','capacityMultiplier':'1'}}
            1.37 allocatable | [cpu].mapping.capacityKey | NotFound | 'cpu':{'mapping':{'capacityKey':'none','capacityMultiplier':'1'}}
            1.37 allocatable | [cpu].mapping.capacityKey | Required | 'cpu':{'mapping':{'capacityMultiplier':'1'}}
            1.37 allocatable | [cpu].mapping.capacityMultiplier | Required | 'cpu':{'mapping':{'capacityKey':'cores'}}
            1.37 allocatable | [cpu].mapping.capacityMultiplier | Invalid | 'cpu':{'mapping':{'capacityKey':'cores','capacityMultiplier':'0'}}
            1.37 allocatable | [cpu].mapping.deviceMultiplier | Invalid | 'cpu':{'mapping':{'deviceMultiplier':'-1'}}
            1.37 allocatable | [cpu].overhead | Invalid | 'cpu':{'overhead':{}}
            1.37 allocatable | [cpu].overhead.perPod | Invalid | 'cpu':{'overhead':{'perPod':'-1'}}
            1.37 allocatable | [cpu].overhead.perContainer | Invalid | 'cpu':{'overhead':{'perContainer':'-1'}}
            1.37 policy | .validRange.step | Invalid | 'default':'250m','validRange':{'min':'200m','max':'1','step':'100m'}
            1.37 policy | .validRange.min | Invalid | 'default':'1','validRange':{'min':'10u'}
            1.37 policy | .validRange.step | Invalid | 'default':'1','validRange':{'min':'1','max':'2','step':'500u'}
            policy | .validValues[1] | Duplicate | 'default':'1','validValues':['200m','1']
            policy | .validValues | Invalid | 'default':'300m','validValues':['1']
            policy | .validRange.min | Invalid | 'default':'100m','validRange':{'min':'200m'}
            """;

    private static final String TOLERATED = """
            spec | |  | {'devices':[<128 devices>]}
            spec | |  | {'devices':[<64 devices ,'taints':[<16 taints>]>]}
            1.34 spec | |  | {'devices':[<128 devices ,'taints':[<4 taints>]>]}
            1.35 device | |  | 'attributes':{'a':{'ints':[<49 numbers>]}}
            spec | |  | {'driver':'GPU.Example.com','pool':{'name':'a/b.c'},'devices':[]}
            spec | |  | {'devices':null,'sharedCounters':[<8 counterSets>]}
            policy | |  | 'default':'4','validRange':{'min':'2','max':'6','step':'2'}
            policy | |  | 'default':'2','validValues':['1','2']
            device | |  | 'attributes':{'dra.example.com/a':{'version':'1.2.3-rc.1+b'}}
            1.37 partition | | | gpu.example.com/type | 'type':{'string':'half'}
            1.37 partition | | | gpu.example.com/type | 'gpu.example.com/type':{'string':'half'}
            1.37 partition | | | other.example.com/type | 'other.example.com/type':{'string':'half'}
            1.37 spec | | | {'skipNodeOperations':['NodePrepareResources','NodeUnprepareResources']}
            1.37 spec | | | {'skipNodeOperations':['NodePrepareResources','*']}
            1.37 spec | | | {'skipNodeOperations':['NodeUnprepareResources']}
            1.37 groups | | | 'mig','vgpu'
            1.37 allocatable | | | 'cpu':{'mapping':{'capacityKey':'cores','capacityMultiplier':'500m'},'overhead':{'perPod':'0'}}
            1.37 allocatable | | | 'memory':{'overhead':{'perContainer':'64Mi'}},'cpu':{'mapping':{'deviceMultiplier':'2'}}
            1.37 policy | | | 'default':'200m','validRange':{'min':'200m','max':'1','step':'100m'}
            1.37 policy | | | 'default':'200m','validValues':['200m','1']
            device | | | 'attributes':{'y/z':{'int':1},'a/b/c':{'int':1}}
            policy | | | 'default':'2','validRange':{'min':'2','step':'-2'}
            1.36 policy | | | 'default':'250m','validRange':{'min':'200m','max':'1','step':'100m'}
            """;

    private static final Pattern ELEMENTS = Pattern.compile("<(\\d+) ([^<>]+)>");

    /** A change of the spec as a merge patch, and what is wrong then. */
    record Row(KubernetesVersion version, String patch, String field, String reason) {}

    private static Row row(String line) {
        List<String> cells = Stream.of(line.split("\\|")).map(String::strip).toList();
        String[] part = cells.get(0).split(" ");
        KubernetesVersion version = part.length == 1 ? V1_36 : KubernetesVersion.parse(part[0]);
        String field = cells.get(1);
        String change = cells.get(3);
        while (ELEMENTS.matcher(change).find()) {
            change = ELEMENTS.matcher(change).replaceAll(SliceRulesTest::elements);
        }
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
                .formatted(name, attributes, elements("1 consumedSets"));
    }

    /** A change of the only device, by its fields. */
    private static Row device(KubernetesVersion version, String field, String reason, String fields) {
        String patch = "{'devices':[{'name':'gpu-0'," + fields + "}]}";
        return new Row(version, patch, "spec.devices[0]" + field, reason);
    }

    private static String elements(String wanted) {
        return ELEMENTS.matcher("<" + wanted + ">").replaceAll(SliceRulesTest::elements);
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
        return check(new FeatureGates(version, Map.of()), patch);
    }

    private static List<FieldError> check(FeatureGates gates, String patch) {
        FieldErrors errors = new FieldErrors();
        new SliceRules(gates).check(Trees.merge(validSpec(), tree(patch)), errors);
        return errors.all();
    }

    static Stream<Row> broken() {
        return BROKEN.lines().map(SliceRulesTest::row);
    }

    @ParameterizedTest
    @MethodSource("broken")
    void aBrokenRuleBringsComplaintsAboutItsFieldAlone(Row row) {
        List<FieldError> errors = check(row.version(), row.patch());

        assertThat(errors).extracting(FieldError::field).containsOnly(row.field());
        assertThat(errors).first().extracting(FieldError::reason).isEqualTo(row.reason());
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

    static Stream<Row> tolerated() {
        return TOLERATED.lines().map(SliceRulesTest::row);
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
    void whatIdentifiesASliceCannotChange() {
        FieldErrors errors = new FieldErrors();
        ObjectNode next = Trees.merge(
                validSpec(), tree("{'driver':'other.example.com','nodeName':'node-2','pool':{'name':'other'}}"));

        new SliceRules(new FeatureGates(V1_36, Map.of())).checkUpdate(next, validSpec(), errors);

        assertThat(errors.all())
                .extracting(FieldError::field)
                .containsExactly("spec.pool.name", "spec.driver", "spec.nodeName");
    }

    @Test
    void taintsThatDoNotChangeAreNotCheckedAgain() {
        ObjectNode old = validSpec();
        old.set(
                "devices",
                tree("{'list':[{'name':'gpu-0','taints':[{'key':''}]}]}").get("list"));
        FieldErrors unchanged = new FieldErrors();
        FieldErrors made = new FieldErrors();

        new SliceRules(new FeatureGates(V1_36, Map.of())).checkUpdate(old, old, unchanged);
        new SliceRules(new FeatureGates(V1_36, Map.of())).check(old, made);

        assertThat(unchanged.all()).isEmpty();
        assertThat(made.all()).isNotEmpty();
    }
}
