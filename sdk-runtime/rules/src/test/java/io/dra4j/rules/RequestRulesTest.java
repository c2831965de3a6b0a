// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static io.dra4j.rules.Trees.repeat;
import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.FieldErrors.FieldError;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Constraints and derived attributes of a claim that has requests r and s, s with a subrequest. */
class RequestRulesTest {
    private static final String NUMA = "{'name':'a.com/numa','expression':'1'}";
    private static final String ON_ALL = "{'matchAttribute':'a.com/numa'}";

    private static List<FieldError> check(String derived, String ofSubrequest, String constraints) {
        String spec =
                """
                {'devices':{'requests':[
                  {'name':'r','exactly':{'deviceClassName':'c','allocationMode':'All','derivedAttributes':[%s]}},
                  {'name':'s','firstAvailable':[
                    {'name':'t','deviceClassName':'c','allocationMode':'All','derivedAttributes':[%s]}]}],
                 'constraints':[%s]}}
                """
                        .formatted(derived, ofSubrequest, constraints);
        FieldErrors errors = new FieldErrors();
        RequestRules.check(
                new Field(tree(spec), "spec", errors),
                new ExpressionRules(ExpressionCompiler.NONE));
        return errors.all();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'matchAttribute':'numa'}                       | [0].matchAttribute    | Invalid",
                "{'distinctAttribute':'a.com/'}                  | [0].distinctAttribute | Invalid",
                "{'requests':['r']}                              | [0]                   | Required",
                "{'requests':['x'],'matchAttribute':'a.com/n'}   | [0].requests[0]       | Invalid",
                "{'requests':['r/t'],'matchAttribute':'a.com/n'} | [0].requests[0]       | Invalid",
                "{'requests':['r','r'],'matchAttribute':'a.c/n'} | [0].requests[1]       | Duplicate",
            })
    void aBrokenConstraintIsRefused(String constraint, String field, String reason) {
        assertThat(check("", "", constraint))
                .singleElement()
                .returns("spec.devices.constraints" + field, FieldError::field)
                .returns("FieldValue" + reason, FieldError::reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'expression':'1'}                        | [0].name       | Required",
                "{'name':'numa','expression':'1'}          | [0].name       | Invalid",
                "{'name':'a.com/other','expression':'1'}   | [0].name       | Invalid",
                "{'name':'a.com/numa'}                     | [0].expression | Required",
            })
    void aBrokenDerivedAttributeIsRefused(String attribute, String field, String reason) {
        assertThat(check(attribute, "", ON_ALL))
                .singleElement()
                .returns(
                        "spec.devices.requests[0].exactly.derivedAttributes" + field,
                        e -> e.field())
                .returns("FieldValue" + reason, FieldError::reason);
    }

    @Test
    void namesAreUniqueWithinARequest() {
        assertThat(check(NUMA + "," + NUMA, NUMA, ON_ALL))
                .extracting(FieldError::reason)
                .containsExactly("FieldValueDuplicate");
    }

    @Test
    void thereAreAtMost32AndExpressionsAreLimited() {
        String many = repeat(",", 33, i -> "{'name':'a.com/n" + i + "','expression':'1'}");
        String used = repeat(",", 32, i -> "{'distinctAttribute':'a.com/n" + i + "'}");
        String expression =
                "{'name':'a.com/numa','expression':'" + "1".repeat(10 * 1024 + 1) + "'}";

        assertThat(check(many, "", used))
                .extracting(FieldError::reason)
                .contains("FieldValueTooMany");
        assertThat(check("", expression, ON_ALL))
                .extracting(FieldError::toString)
                .singleElement()
                .asString()
                .startsWith("spec.devices.requests[1].firstAvailable[0].derivedAttributes[0]")
                .contains("Too long");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "[]          | true  | true",
                "['r']       | true  | false",
                "['s']       | false | true",
                "['s/t']     | false | true",
                "['r','s/t'] | true  | true",
            })
    void aConstraintMustUseItOnItsRequest(String requests, boolean ofRequest, boolean ofSub) {
        String constraint = "{'requests':" + requests + ",'matchAttribute':'a.com/numa'}";

        assertThat(check(NUMA, "", constraint).isEmpty()).isEqualTo(ofRequest);
        assertThat(check("", NUMA, constraint).isEmpty()).isEqualTo(ofSub);
    }
}
