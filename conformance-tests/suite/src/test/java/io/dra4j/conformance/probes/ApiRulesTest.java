// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import static io.dra4j.conformance.probes.ApiRules.BINDING;
import static io.dra4j.conformance.probes.ApiRules.NODE_SELECTION;
import static io.dra4j.conformance.probes.ApiRules.TAINTS;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.conformance.context.Violation;
import io.dra4j.rules.KubernetesVersion;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

class ApiRulesTest {

    private static final ApiRules RULES = new ApiRules(KubernetesVersion.V1_36);
    private static final List<Pattern> PARTS = List.of(NODE_SELECTION, TAINTS, BINDING);

    private static JsonNode json(String text) {
        try {
            return new ObjectMapper().readTree(text.replace('\'', '"'));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static JsonNode slice(String placement, String ofDevice) {
        return json(
                "{'metadata':{'name':'slice-1'},'spec':{'driver':'gpu.example.com',%s,'pool':{'name':'p','generation':1,'resourceSliceCount':1},'devices':[{'name':'gpu-0'%s}]}}"
                        .formatted(placement, ofDevice));
    }

    private static String taints(int count) {
        return ",'taints':"
                + IntStream.range(0, count)
                        .mapToObj(i -> "{'key':'example.com/t%d','effect':'None'}".formatted(i))
                        .toList();
    }

    /** The place of the part among all parts: the others are valid. */
    private static void isRefused(ApiRules rules, JsonNode slice, Pattern part, String error) {
        for (Pattern other : PARTS) {
            if (other != part) {
                assertThatCode(() -> rules.requireValid(slice, other)).doesNotThrowAnyException();
            }
        }
        assertThatThrownBy(() -> rules.requireValid(slice, part))
                .isInstanceOf(Violation.class)
                .hasMessageContainingAll("slice-1", "1." + rules.release().minor(), error);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    {'key':'-bad','effect':'None'}                   | taints[0].key
                    {'key':'a..b/x','effect':'None'}                 | taints[0].key
                    {'key':'example.com/x','value':'a b','effect':'None'} | taints[0].value
                    {'key':'example.com/x','effect':'Prefer'}        | taints[0].effect
                    """)
    void aTaintThatIsNotLegalIsFound(String taint, String field) {
        isRefused(RULES, slice("'allNodes':true", ",'taints':[" + taint + "]"), TAINTS, field);
    }

    @Test
    void theNumberOfTaintsIsThatOfTheRelease() {
        ApiRules old = new ApiRules(KubernetesVersion.V1_34);
        JsonNode four = slice("'allNodes':true", taints(4));
        JsonNode five = slice("'allNodes':true", taints(5));
        JsonNode tooMany = slice("'allNodes':true", taints(17));

        isRefused(old, five, TAINTS, "Too many: 5: must have at most 4");
        isRefused(RULES, tooMany, TAINTS, "Too many: 17: must have at most 16");
        assertThatCode(() -> old.requireValid(four, TAINTS)).doesNotThrowAnyException();
        assertThatCode(() -> RULES.requireValid(five, TAINTS)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    'nodeName':'n','allNodes':true  | multiple fields are set
                    'comment':''                    | exactly one of
                    'nodeName':'N_1'                | spec.nodeName
                    'allNodes':false,'nodeName':'n' | spec.allNodes
                    """)
    void aSliceHasOneNodeSelection(String placement, String error) {
        isRefused(RULES, slice(placement, ""), NODE_SELECTION, error);
    }

    @Test
    void bindingConditionsAreFewAndHaveFailureConditions() {
        String five = "['a','b','c','d','e']";

        isRefused(
                RULES,
                slice("'allNodes':true", ",'bindingConditions':%s,'bindingFailureConditions':['x']".formatted(five)),
                BINDING,
                "bindingConditions: Too many: 5");
        isRefused(
                RULES,
                slice("'allNodes':true", ",'bindingConditions':['a']"),
                BINDING,
                "bindingFailureConditions are required");
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/conformance/probes/an-entry-of-a-status-is-checked-alone.csv",
            delimiter = '|',
            quoteCharacter = '`')
    void anEntryOfAStatusIsCheckedAlone(String ofEntry, String field) {
        JsonNode claim = json(
                "{'status':{'devices':[{'driver':'bad_driver'}],'allocation':{'devices':{'results':[{'request':'r','driver':'d.com','pool':'p','device':'gpu-0'}]}}}}");
        JsonNode entry = json("{'driver':'d.com','pool':'p','device':'gpu-0'," + ofEntry + "}");

        if (field == null) {
            assertThatCode(() -> RULES.requireValidEntry(claim, entry)).doesNotThrowAnyException();
        } else {
            assertThatThrownBy(() -> RULES.requireValidEntry(claim, entry))
                    .isInstanceOf(Violation.class)
                    .hasMessageContaining(field);
        }
    }
}
