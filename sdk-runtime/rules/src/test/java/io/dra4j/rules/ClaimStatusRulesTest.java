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
import org.junit.jupiter.params.provider.ValueSource;

/** The status of an allocated claim. */
class ClaimStatusRulesTest {
    private static List<FieldError> check(String ofResult, String consumers) {
        ObjectNode claim =
                tree(
                        "{'spec':{'devices':{'requests':[{'name':'r'}]}},'status':{'reservedFor':[%s],'allocation':{'devices':{'results':[{'request':'r','driver':'d.com','pool':'p','device':'d'%s}]}}}}"
                                .formatted(consumers, ofResult));
        FieldErrors errors = new FieldErrors();
        ClaimStatusRules.check(claim, tree("{}"), errors);
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
                        "status.reservedFor[0].resource",
                        "status.reservedFor[0].name",
                        "status.reservedFor[0].uid");
    }

    @Test
    void aResultMayLeaveOutCallsOfTheKubelet() {
        String field = "status.allocation.devices.results[0].skipNodeOperations";

        assertThat(check(",'skipNodeOperations':['*']", "")).isEmpty();
        assertThat(check(",'skipNodeOperations':['NodePrepareResources']", ""))
                .singleElement()
                .returns(field, FieldError::field);
    }
}
