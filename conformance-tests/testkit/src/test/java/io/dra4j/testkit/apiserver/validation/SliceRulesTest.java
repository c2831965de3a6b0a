// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import static io.dra4j.testkit.apiserver.Trees.repeat;
import static io.dra4j.testkit.apiserver.Trees.tree;
import static io.dra4j.testkit.apiserver.model.KubernetesVersion.V1_34;
import static io.dra4j.testkit.apiserver.model.KubernetesVersion.V1_35;
import static io.dra4j.testkit.apiserver.model.KubernetesVersion.V1_36;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.apply.Patches;
import io.dra4j.testkit.apiserver.model.FieldErrors;
import io.dra4j.testkit.apiserver.model.FieldErrors.FieldError;
import io.dra4j.testkit.apiserver.model.KubernetesVersion;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One change per rule to a valid slice, and the one complaint that it must bring. */
class SliceRulesTest {
    /** A change of the spec as a merge patch, and what is wrong then. */
    record Row(KubernetesVersion version, String patch, String field, String reason) {}

    private static final String DEVICES = "spec.devices";
    private static final String DEVICE = "spec.devices[0]";

    private static Row spec(String field, String reason, String patch) {
        return new Row(V1_36, patch, field, reason);
    }

    /** A change of the only device, by its fields. */
    private static Row device(String field, String reason, String fields) {
        return new Row(
                V1_36, "{'devices':[{'name':'gpu-0'," + fields + "}]}", DEVICE + field, reason);
    }

    private static Row policy(String field, String reason, String policy) {
        return device(
                ".capacity[memory].requestPolicy" + field,
                reason,
                "'allowMultipleAllocations':true,'capacity':{'memory':{'value':'10','requestPolicy':{%s}}}"
                        .formatted(policy));
    }

    static List<Row> specRows() {
        return List.of(
                spec("spec.driver", "FieldValueRequired", "{'driver':null}"),
                spec("spec.driver", "FieldValueInvalid", "{'driver':'gpu_example'}"),
                spec("spec.driver", "FieldValueTooLong", "{'driver':'" + "d".repeat(64) + "'}"),
                spec("spec.pool.name", "FieldValueRequired", "{'pool':{'name':''}}"),
                spec("spec.pool.name", "FieldValueInvalid", "{'pool':{'name':'a//b'}}"),
                spec(
                        "spec.pool.name",
                        "FieldValueTooLong",
                        "{'pool':{'name':'" + repeat("/", 64, i -> "abc") + "'}}"),
                spec("spec.pool.generation", "FieldValueInvalid", "{'pool':{'generation':-1}}"),
                spec(
                        "spec.pool.resourceSliceCount",
                        "FieldValueInvalid",
                        "{'pool':{'resourceSliceCount':0}}"),
                spec("spec", "FieldValueRequired", "{'nodeName':null}"),
                spec("spec", "FieldValueInvalid", "{'allNodes':true}"),
                spec("spec.nodeName", "FieldValueInvalid", "{'nodeName':''}"),
                spec("spec.nodeName", "FieldValueInvalid", "{'nodeName':'Node_1'}"),
                spec("spec.allNodes", "FieldValueInvalid", "{'nodeName':null,'allNodes':false}"),
                spec(
                        "spec.perDeviceNodeSelection",
                        "FieldValueInvalid",
                        "{'nodeName':null,'perDeviceNodeSelection':false}"),
                spec(
                        "spec.nodeSelector.nodeSelectorTerms",
                        "FieldValueRequired",
                        "{'nodeName':null,'nodeSelector':{'nodeSelectorTerms':[]}}"),
                spec(
                        "spec.nodeSelector.nodeSelectorTerms",
                        "FieldValueInvalid",
                        "{'nodeName':null,'nodeSelector':{'nodeSelectorTerms':[{},{}]}}"),
                selector(".operator", "FieldValueNotSupported", "'key':'zone','operator':'Like'"),
                selector(".values", "FieldValueRequired", "'key':'zone','operator':'In'"),
                selector(
                        ".values",
                        "FieldValueForbidden",
                        "'key':'zone','operator':'Exists','values':['a']"),
                selector(
                        ".values[0]",
                        "FieldValueInvalid",
                        "'key':'zone','operator':'In','values':['a b']"),
                selector(".key", "FieldValueInvalid", "'key':'-','operator':'Exists'"),
                spec("spec", "FieldValueInvalid", "{'sharedCounters':[]}"),
                spec(
                        DEVICES + "[1].name",
                        "FieldValueDuplicate",
                        "{'devices':[{'name':'a'},{'name':'a'}]}"),
                spec(DEVICES, "FieldValueTooMany", devices(129, "")),
                spec(DEVICES, "FieldValueTooMany", devices(65, ",'attributes':{'a':{'ints':[1]}}")),
                new Row(
                        V1_35,
                        devices(
                                65,
                                ",'consumesCounters':[{'counterSet':'s','counters':{'c':{'value':'1'}}}]"),
                        DEVICES,
                        "FieldValueTooMany"));
    }

    private static Row selector(String field, String reason, String expression) {
        return spec(
                "spec.nodeSelector.nodeSelectorTerms[0].matchExpressions[0]" + field,
                reason,
                "{'nodeName':null,'nodeSelector':{'nodeSelectorTerms':[{'matchExpressions':[{%s}]}]}}"
                        .formatted(expression));
    }

    private static String devices(int count, String fields) {
        return "{'devices':["
                + repeat(",", count, i -> "{'name':'gpu-" + i + "'" + fields + "}")
                + "]}";
    }

    static List<Row> deviceRows() {
        return List.of(
                spec(DEVICE + ".name", "FieldValueRequired", "{'devices':[{}]}"),
                spec(DEVICE + ".name", "FieldValueInvalid", "{'devices':[{'name':'gpu.0'}]}"),
                spec(
                        DEVICE + ".name",
                        "FieldValueInvalid",
                        "{'devices':[{'name':'" + "g".repeat(64) + "'}]}"),
                device(
                        "",
                        "FieldValueInvalid",
                        "'attributes':{" + repeat(",", 33, i -> "'a" + i + "':{'int':1}") + "}"),
                device(
                        ".attributes",
                        "FieldValueTooMany",
                        "'attributes':{'a':{'ints':[" + repeat(",", 49, Integer::toString) + "]}}"),
                device(".attributes", "FieldValueInvalid", "'attributes':{'0a':{'int':1}}"),
                device(".attributes", "FieldValueRequired", "'attributes':{'/a':{'int':1}}"),
                device(".attributes", "FieldValueRequired", "'attributes':{'a.b/':{'int':1}}"),
                device(
                        ".attributes",
                        "FieldValueTooLong",
                        "'attributes':{'" + "a".repeat(33) + "':{'int':1}}"),
                device(
                        ".attributes",
                        "FieldValueTooLong",
                        "'attributes':{'" + "d".repeat(64) + "/a':{'int':1}}"),
                device(".attributes[a]", "FieldValueInvalid", "'attributes':{'a':{}}"),
                device(
                        ".attributes[a]",
                        "FieldValueInvalid",
                        "'attributes':{'a':{'int':1,'bool':true}}"),
                device(
                        ".attributes[a].ints",
                        "FieldValueRequired",
                        "'attributes':{'a':{'ints':[]}}"),
                device(
                        ".attributes[a].string",
                        "FieldValueTooLong",
                        "'attributes':{'a':{'string':'" + "s".repeat(65) + "'}}"),
                device(
                        ".attributes[a].strings[1]",
                        "FieldValueTooLong",
                        "'attributes':{'a':{'strings':['s','" + "s".repeat(65) + "']}}"),
                device(
                        ".attributes[a].version",
                        "FieldValueInvalid",
                        "'attributes':{'a':{'version':'1.2'}}"),
                device(
                        ".attributes[a].version",
                        "FieldValueInvalid",
                        "'attributes':{'a':{'version':'v1.2.3'}}"),
                device(".capacity", "FieldValueInvalid", "'capacity':{'a-b':{'value':'1'}}"),
                device(
                        ".taints[0].key",
                        "FieldValueInvalid",
                        "'taints':[{'key':'','effect':'None'}]"),
                device(
                        ".taints[0].value",
                        "FieldValueInvalid",
                        "'taints':[{'key':'k','value':'a b','effect':'None'}]"),
                device(".taints[0].effect", "FieldValueRequired", "'taints':[{'key':'k'}]"),
                device(
                        ".taints[0].effect",
                        "FieldValueNotSupported",
                        "'taints':[{'key':'k','effect':'Prefer'}]"),
                device(".taints", "FieldValueTooMany", "'taints':[" + taints(17) + "]"),
                new Row(
                        V1_34,
                        "{'devices':[{'name':'gpu-0','taints':[" + taints(5) + "]}]}",
                        DEVICE + ".taints",
                        "FieldValueTooMany"),
                device(".nodeName", "FieldValueForbidden", "'nodeName':'node-1'"),
                spec(
                        DEVICE,
                        "FieldValueInvalid",
                        "{'nodeName':null,'perDeviceNodeSelection':true,'devices':[{'name':'gpu-0'}]}"),
                spec(
                        DEVICE + ".allNodes",
                        "FieldValueInvalid",
                        "{'nodeName':null,'perDeviceNodeSelection':true,"
                                + "'devices':[{'name':'gpu-0','allNodes':false}]}"),
                device("", "FieldValueInvalid", "'bindingConditions':['a']"),
                device(
                        ".bindingConditions[0]",
                        "FieldValueInvalid",
                        "'bindingConditions':['a b'],'bindingFailureConditions':['b']"),
                device(
                        ".bindingConditions[1]",
                        "FieldValueDuplicate",
                        "'bindingConditions':['a','a'],'bindingFailureConditions':['b']"),
                device(
                        ".bindingFailureConditions",
                        "FieldValueInvalid",
                        "'bindingConditions':['a'],'bindingFailureConditions':['a']"),
                device(
                        ".bindingConditions",
                        "FieldValueTooMany",
                        "'bindingConditions':['a','b','c','d','e'],'bindingFailureConditions':['f']"),
                device(
                        ".nodeAllocatableResourceMappings[example.com/x]",
                        "FieldValueInvalid",
                        "'nodeAllocatableResourceMappings':{'example.com/x':{'allocationMultiplier':'1'}}"),
                device(
                        ".nodeAllocatableResourceMappings[cpu].allocationMultiplier",
                        "FieldValueInvalid",
                        "'nodeAllocatableResourceMappings':{'cpu':{'allocationMultiplier':'0'}}"),
                device(
                        ".nodeAllocatableResourceMappings[cpu].capacityKey",
                        "FieldValueInvalid",
                        "'nodeAllocatableResourceMappings':{'cpu':{'capacityKey':'none'}}"));
    }

    private static String taints(int count) {
        return repeat(",", count, i -> "{'key':'k" + i + "','effect':'NoSchedule'}");
    }

    static List<Row> capacityRows() {
        return List.of(
                device(
                        ".capacity[memory].requestPolicy",
                        "FieldValueForbidden",
                        "'capacity':{'memory':{'value':'10','requestPolicy':{'default':'1'}}}"),
                policy(
                        "",
                        "FieldValueForbidden",
                        "'default':'1','validValues':['1'],'validRange':{'min':'1'}"),
                policy(".default", "FieldValueRequired", "'validValues':['1']"),
                policy(".default", "FieldValueInvalid", "'default':'2','validValues':['1']"),
                policy(
                        ".validValues",
                        "FieldValueInvalid",
                        "'default':'1','validValues':['2','1']"),
                policy(
                        ".validValues[1]",
                        "FieldValueDuplicate",
                        "'default':'1','validValues':['1','1']"),
                policy(
                        ".validValues[1]",
                        "FieldValueInvalid",
                        "'default':'1','validValues':['1','11']"),
                policy(
                        ".validValues",
                        "FieldValueTooMany",
                        "'default':'1','validValues':["
                                + repeat(",", 11, i -> "'" + i + "'")
                                + "]"),
                policy(
                        ".validRange.min",
                        "FieldValueRequired",
                        "'default':'1','validRange':{'max':'2'}"),
                policy(
                        ".validRange.max",
                        "FieldValueInvalid",
                        "'default':'1','validRange':{'min':'1','max':'11'}"),
                policy(".default", "FieldValueInvalid", "'default':'1','validRange':{'min':'2'}"),
                policy(
                        ".default",
                        "FieldValueInvalid",
                        "'default':'5','validRange':{'min':'2','max':'4'}"),
                policy(
                        ".default",
                        "FieldValueInvalid",
                        "'default':'3','validRange':{'min':'2','step':'2'}"),
                policy(
                        ".validRange.max",
                        "FieldValueInvalid",
                        "'default':'2','validRange':{'min':'2','max':'5','step':'2'}"),
                policy(
                        ".validRange.step",
                        "FieldValueInvalid",
                        "'default':'2','validRange':{'min':'2','step':'9'}"),
                policy(
                        ".validRange.step",
                        "FieldValueInvalid",
                        "'default':'2','validRange':{'min':'2','step':'0'}"));
    }

    static List<Row> counterRows() {
        return List.of(
                consumed(".counterSet", "FieldValueRequired", "{'counters':{'c':{'value':'1'}}}"),
                consumed(
                        ".counterSet",
                        "FieldValueInvalid",
                        "{'counterSet':'A','counters':{'c':{'value':'1'}}}"),
                consumed(".counters", "FieldValueRequired", "{'counterSet':'s'}"),
                consumed(
                        ".counters",
                        "FieldValueInvalid",
                        "{'counterSet':'s','counters':{'C':{'value':'1'}}}"),
                consumed(
                        ".counters",
                        "FieldValueTooMany",
                        "{'counterSet':'s','counters':{" + counters(33) + "}}"),
                device(
                        ".consumesCounters",
                        "FieldValueTooMany",
                        "'consumesCounters':[" + consumedSets(3) + "]"),
                device(
                        ".consumesCounters[1].counterSet",
                        "FieldValueDuplicate",
                        "'consumesCounters':[" + consumedSets(1) + "," + consumedSets(1) + "]"),
                sets(V1_36, "[0].name", "FieldValueRequired", "{'counters':{'c':{'value':'1'}}}"),
                sets(
                        V1_36,
                        "[0].name",
                        "FieldValueInvalid",
                        "{'name':'S','counters':{'c':{'value':'1'}}}"),
                sets(
                        V1_36,
                        "[1].name",
                        "FieldValueDuplicate",
                        counterSets(1) + "," + counterSets(1)),
                sets(V1_36, "[0].counters", "FieldValueRequired", "{'name':'s','counters':{}}"),
                sets(
                        V1_36,
                        "[0].counters",
                        "FieldValueTooMany",
                        "{'name':'s','counters':{" + counters(33) + "}}"),
                sets(
                        V1_36,
                        "[0].counters",
                        "FieldValueInvalid",
                        "{'name':'s','counters':{'a.b':{'value':'1'}}}"),
                sets(V1_36, "", "FieldValueTooMany", counterSets(9)));
    }

    private static Row consumed(String field, String reason, String entry) {
        return device(".consumesCounters[0]" + field, reason, "'consumesCounters':[" + entry + "]");
    }

    private static Row sets(KubernetesVersion version, String field, String reason, String sets) {
        return new Row(
                version,
                "{'devices':null,'sharedCounters':[" + sets + "]}",
                "spec.sharedCounters" + field,
                reason);
    }

    private static String counters(int count) {
        return repeat(",", count, i -> "'c" + i + "':{'value':'1'}");
    }

    private static String consumedSets(int count) {
        return repeat(
                ",", count, i -> "{'counterSet':'s" + i + "','counters':{'c':{'value':'1'}}}");
    }

    private static String counterSets(int count) {
        return repeat(",", count, i -> "{'name':'s" + i + "','counters':{'c':{'value':'1'}}}");
    }

    private static ObjectNode validSpec() {
        return tree(
                "{'driver':'gpu.example.com','nodeName':'node-1',"
                        + "'pool':{'name':'node-1','generation':1,'resourceSliceCount':1},'devices':[{'name':'gpu-0'}]}");
    }

    private static List<FieldError> check(KubernetesVersion version, String patch) {
        FieldErrors errors = new FieldErrors();
        new SliceRules(version).check(Patches.merge(validSpec(), tree(patch)), errors);
        return errors.all();
    }

    @ParameterizedTest
    @MethodSource({"specRows", "deviceRows", "capacityRows", "counterRows"})
    void aBrokenRuleBringsOneComplaintAboutItsField(Row row) {
        List<FieldError> errors = check(row.version(), row.patch());

        assertThat(errors)
                .singleElement()
                .satisfies(
                        error -> {
                            assertThat(error.field()).isEqualTo(row.field());
                            assertThat(error.reason()).isEqualTo(row.reason());
                        });
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

    static List<Row> tolerated() {
        return List.of(
                spec("", "", devices(128, "")),
                spec("", "", devices(64, ",'taints':[" + taints(16) + "]")),
                new Row(V1_34, devices(128, ",'taints':[" + taints(4) + "]"), "", ""),
                new Row(
                        V1_35,
                        "{'devices':[{'name':'g','attributes':{'a':{'ints':["
                                + repeat(",", 49, i -> "1")
                                + "]}}}]}",
                        "",
                        ""),
                spec("", "", "{'driver':'GPU.Example.com','pool':{'name':'a/b.c'},'devices':[]}"),
                spec("", "", "{'devices':null,'sharedCounters':[" + counterSets(8) + "]}"),
                policy("", "", "'default':'4','validRange':{'min':'2','max':'6','step':'2'}"),
                policy("", "", "'default':'2','validValues':['1','2']"),
                device("", "", "'attributes':{'dra.example.com/a':{'version':'1.2.3-rc.1+b'}}"));
    }

    @Test
    void whatIdentifiesASliceCannotChange() {
        FieldErrors errors = new FieldErrors();
        ObjectNode next =
                Patches.merge(
                        validSpec(),
                        tree(
                                "{'driver':'other.example.com','nodeName':'node-2','pool':{'name':'other'}}"));

        new SliceRules(V1_36).checkImmutable(next, validSpec(), errors);

        assertThat(errors.all())
                .extracting(FieldError::field)
                .containsExactly("spec.driver", "spec.pool.name", "spec.nodeName");
    }
}
