// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors.FieldError;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The status of an allocated claim. */
class ClaimStatusRulesTest {
    private static List<FieldError> check(String ofResult, String consumers) {
        ObjectNode claim = tree(
                "{'spec':{'devices':{'requests':[{'name':'r'}]}},'status':{'reservedFor':[%s],'allocation':{'devices':{'results':[{'request':'r','driver':'d.com','pool':'p','device':'d'%s}]}}}}"
                        .formatted(consumers, ofResult));
        FieldErrors errors = new FieldErrors();
        ClaimStatusRules.check(claim, tree("{}"), KubernetesVersion.newest(), errors);
        return errors.all();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'resource':'pods','name':'p','uid':'1'}",
                "{'apiGroup':'scheduling.k8s.io','resource':'podgroups','name':'g','uid':'1'}",
                "{'resource':'pods','name':'p','uid':'1'},"
                        + "{'apiGroup':'scheduling.k8s.io','resource':'podgroups','name':'g','uid':'2'}"
            })
    void itMayBeReservedForPodsAndForPodGroups(String consumers) {
        assertThat(check("", consumers)).isEmpty();
    }

    @Test
    void aConsumerHasAResourceANameAndAUid() {
        assertThat(check("", "{'apiGroup':'scheduling.k8s.io'}"))
                .extracting(FieldError::field)
                .containsExactly(
                        "status.reservedFor[0].resource", "status.reservedFor[0].name", "status.reservedFor[0].uid");
    }

    @Test
    void aResultMayLeaveOutCallsOfTheKubelet() {
        String field = "status.allocation.devices.results[0].skipNodeOperations";

        assertThat(check(",'skipNodeOperations':['*']", "")).isEmpty();
        assertThat(check(",'skipNodeOperations':['NodePrepareResources']", ""))
                .singleElement()
                .returns(field, FieldError::field);
    }

    @Test
    void aNewAllocationIsForRequestsOfTheClaim() {
        assertThat(check(",'request':'r/s'", ""))
                .singleElement()
                .returns("status.allocation.devices.results[0].request", FieldError::field)
                .returns("FieldValueInvalid", FieldError::reason);
        assertThat(check(",'tolerations':[{}]", ""))
                .extracting(FieldError::field)
                .containsExactly("status.allocation.devices.results[0].tolerations[0].operator");
        assertThat(check(",'bindingConditions':['a']", ""))
                .extracting(FieldError::field)
                .containsExactly("status.allocation.devices.results[0].bindingFailureConditions");
        assertThat(check(",'consumedCapacity':{'memory':'1','a.com/b/c':'1'}", ""))
                .extracting(FieldError::field)
                .containsExactly("status.allocation.devices.results[0].consumedCapacity");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    {'opaque':{'driver':'d.com','parameters':{}}}                     | source: Required value
                    {'source':'From','opaque':{'driver':'d.com','parameters':{}}}     | source: Unsupported value: "From": supported values: "FromClaim", "FromClass"
                    {'source':'FromClass'}                                            | opaque: Required value
                    {'source':'FromClaim','requests':['x'],'opaque':{'driver':'d.com','parameters':{}}} | requests[0]: Invalid value: "x": must be the name of
                    """)
    void aConfigurationOfAnAllocationHasASource(String config, String message) {
        String allocation = "{'allocation':{'devices':{'config':[" + config + "]}}}";

        assertThat(check(tree("{}"), tree(allocation), false))
                .singleElement()
                .asString()
                .startsWith("status.allocation.devices.config[0]." + message);
    }

    @Test
    void anAllocationMayBeTakenAwayButNotChanged() {
        ObjectNode one = tree("{'allocation':{'devices':{'results':[{'device':'-'}]}}}");
        ObjectNode other = tree("{'allocation':{'devices':{'results':[]}}}");

        assertThat(check(one, one, false)).isEmpty();
        assertThat(check(one, tree("{}"), false)).isEmpty();
        assertThat(check(one, other, false))
                .singleElement()
                .asString()
                .startsWith("status.allocation: Invalid value: ")
                .endsWith("field is immutable");
    }

    @Test
    void onlyAnAllocatedClaimThatIsNotBeingDeletedIsReserved() {
        String user = "{'resource':'pods','name':'%s','uid':'%s'}";
        ObjectNode one = tree("{'reservedFor':[" + user.formatted("a", "1") + "]}");
        ObjectNode allocated = tree("{'allocation':{}}").setAll(one);
        ObjectNode none = tree("{'allocation':{}}");

        assertThat(check(tree("{}"), one, false))
                .containsExactly("status.reservedFor: Forbidden: may not be specified when `allocated` is not set");
        assertThat(check(none, allocated, false)).isEmpty();
        assertThat(check(allocated, allocated, true)).isEmpty();
        assertThat(check(allocated, none, true)).isEmpty();
        assertThat(check(none, allocated, true))
                .containsExactly(
                        "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set");
    }

    private static List<String> check(ObjectNode old, ObjectNode next, boolean deleting) {
        ObjectNode claim = tree("{'spec':{'devices':{'requests':[{'name':'r'}]}}}");
        if (deleting) {
            claim.putObject("metadata").put("deletionTimestamp", "2026-01-01T00:00:00Z");
        }
        FieldErrors errors = new FieldErrors();
        ClaimRules.checkStatus(
                claim.set("status", next),
                (ObjectNode) tree("{}").set("status", old),
                KubernetesVersion.newest(),
                errors);
        return errors.all().stream().map(FieldError::toString).toList();
    }
}
