// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static io.dra4j.rules.Trees.repeat;
import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors.FieldError;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Constraints and derived attributes of a claim that has requests r and s, s with a subrequest. */
class RequestRulesTest {
    private static final String NUMA = "{'name':'a.com/numa','expression':'1'}";
    private static final String ON_ALL = "{'matchAttribute':'a.com/numa'}";

    private static List<FieldError> check(String derived, String ofSubrequest, String constraints) {
        String spec = """
                {'devices':{'requests':[
                  {'name':'r','exactly':{'deviceClassName':'c','allocationMode':'All','derivedAttributes':[%s]}},
                  {'name':'s','firstAvailable':[
                    {'name':'t','deviceClassName':'c','allocationMode':'All','derivedAttributes':[%s]}]}],
                 'constraints':[%s]}}
                """.formatted(derived, ofSubrequest, constraints);
        return check(tree(spec), KubernetesVersion.newest());
    }

    private static List<FieldError> check(ObjectNode spec, KubernetesVersion version) {
        FieldErrors errors = new FieldErrors();
        FeatureGates gates = new FeatureGates(version, Map.of());
        ClaimRules.checkSpec(spec, "spec", gates, ExpressionCompiler.NONE, errors);
        return errors.all();
    }

    /** A claim with one request for all devices of a class, and with additions to both. */
    private static List<String> ofClaim(String ofRequest, String ofDevices) {
        String spec =
                "{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'c','allocationMode':'All'%s}}]%s}}"
                        .formatted(ofRequest, ofDevices);
        return check(tree(spec), KubernetesVersion.newest()).stream()
                .map(FieldError::toString)
                .toList();
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/rules/a-broken-constraint-is-refused.csv",
            delimiter = '|',
            quoteCharacter = '`')
    void aBrokenConstraintIsRefused(String constraint, String field, String reason) {
        assertThat(check("", "", constraint))
                .singleElement()
                .returns("spec.devices.constraints" + field, FieldError::field)
                .returns("FieldValue" + reason, FieldError::reason);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    {'expression':'1'}                        | [0].name       | Required
                    {'name':'numa','expression':'1'}          | [0].name       | Invalid
                    {'name':'a.com/other','expression':'1'}   | [0].name       | Invalid
                    {'name':'a.com/numa'}                     | [0].expression | Required
                    """)
    void aBrokenDerivedAttributeIsRefused(String attribute, String field, String reason) {
        assertThat(check(attribute, "", ON_ALL))
                .singleElement()
                .returns("spec.devices.requests[0].exactly.derivedAttributes" + field, e -> e.field())
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
        String expression = "{'name':'a.com/numa','expression':'" + "1".repeat(10 * 1024 + 1) + "'}";

        assertThat(check(many, "", used)).extracting(FieldError::reason).contains("FieldValueTooMany");
        assertThat(check("", expression, ON_ALL))
                .extracting(FieldError::toString)
                .singleElement()
                .asString()
                .startsWith("spec.devices.requests[1].firstAvailable[0].derivedAttributes[0]")
                .contains("Too long");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    []          | true  | true
                    ['r']       | true  | false
                    ['s']       | false | true
                    ['s/t']     | false | true
                    ['r','s/t'] | true  | true
                    """)
    void aConstraintMustUseItOnItsRequest(String requests, boolean ofRequest, boolean ofSub) {
        String constraint = "{'requests':" + requests + ",'matchAttribute':'a.com/numa'}";

        assertThat(check(NUMA, "", constraint).isEmpty()).isEqualTo(ofRequest);
        assertThat(check("", NUMA, constraint).isEmpty()).isEqualTo(ofSub);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'operator':'Exists'}",
                "{'operator':'Exists','key':'a.com/k','effect':'NoExecute','tolerationSeconds':1}",
                "{'operator':'Equal','key':'k','value':'v','effect':'None'}",
                "{'operator':'Equal'}",
            })
    void aTolerationIsAccepted(String toleration) {
        assertThat(ofClaim(",'tolerations':[" + toleration + "]", "")).isEmpty();
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/rules/a-broken-toleration-is-refused.csv",
            delimiter = '|',
            quoteCharacter = '`')
    void aBrokenTolerationIsRefused(String toleration, String message) {
        assertThat(ofClaim(",'tolerations':[" + toleration + "]", ""))
                .singleElement()
                .asString()
                .startsWith("spec.devices.requests[0].exactly.tolerations[0]." + message);
    }

    @Test
    void equalIsTheOperatorByDefault() {
        ObjectNode spec = tree(
                "{'devices':{'requests':[{'exactly':{'tolerations':[{'key':'k'},{'operator':'Exists'}]}},{'firstAvailable':[{'tolerations':[{}]}]}]}}");

        ClaimRules.setDefaults(spec);

        assertThat(spec.findValuesAsText("operator")).containsExactly("Equal", "Exists", "Equal");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    ,'selectors':[{}]                   | .selectors[0].cel: Required value
                    ,'count':2                          | .count: Invalid value: 2: must not be specified when allocationMode is 'All'
                    ,'allocationMode':'ExactCount'      | .count: Invalid value: 0: must be greater than zero
                    ,'allocationMode':'Some'            | .allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"
                    ,'deviceClassName':''               | .deviceClassName: Required value
                    ,'capacity':{'requests':{'a//m':1}} | .capacity.requests: Invalid value: "a//m": must not contain more than one slash
                    """)
    void aBrokenRequestIsRefused(String change, String message) {
        assertThat(ofClaim(change, "")).containsExactly("spec.devices.requests[0].exactly" + message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    ''                            | .requests[0]: Invalid value: "": a lowercase RFC 1123 label must
                    'r','r'                       | .requests[1]: Duplicate value: "r"
                    'r/s/t'                       | .requests[0]: Invalid value: "r/s/t": must be the name of a request
                    'x'                           | .requests[0]: Invalid value: "x": must be the name of a request
                    """)
    void aConfigurationIsForRequestsOfTheClaim(String requests, String message) {
        String config = "{'requests':[%s],'opaque':{'driver':'d.com','parameters':{}}}";

        assertThat(ofClaim("", ",'config':[" + config.formatted(requests) + "]"))
                .first()
                .asString()
                .startsWith("spec.devices.config[0]" + message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    {}                                                | .opaque: Required value
                    {'opaque':{'driver':'d.com'}}                     | .opaque.parameters: Required value
                    {'opaque':{'driver':'d.com','parameters':null}}   | .opaque.parameters: Required value
                    {'opaque':{'driver':'d.com','parameters':[1]}}    | .opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object
                    """)
    void aBrokenConfigurationIsRefused(String config, String message) {
        assertThat(ofClaim("", ",'config':[" + config + "]")).containsExactly("spec.devices.config[0]" + message);
    }

    @Test
    void aRequestIsExactOrHasAlternativesAndANameOfItsOwn() {
        String exactly = "'exactly':{'deviceClassName':'c','allocationMode':'All'}";
        String alternatives =
                "'firstAvailable':[{'name':'s','deviceClassName':'c','allocationMode':'All'},{'name':'s','deviceClassName':'c','allocationMode':'All'}]";
        ObjectNode spec =
                tree("{'devices':{'requests':[{'name':'r',%s},{'name':'b',%s,%s},{'name':'n'},{'name':'r',%s}]}}"
                        .formatted(exactly, exactly, alternatives, alternatives));

        assertThat(check(spec, KubernetesVersion.V1_36))
                .extracting(FieldError::toString)
                .containsExactly(
                        "spec.devices.requests[1]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
                        "spec.devices.requests[2]: Required value: exactly one of `exactly` or `firstAvailable` is required",
                        "spec.devices.requests[3].firstAvailable[1]: Duplicate value: \"s\"",
                        "spec.devices.requests[3]: Duplicate value: \"r\"");
    }

    @Test
    void nothingElseIsCheckedOfAListThatIsTooLong() {
        String requests = repeat(",", 33, i -> "{'name':'-'}");

        assertThat(check(tree("{'devices':{'requests':[" + requests + "]}}"), KubernetesVersion.V1_36))
                .extracting(FieldError::toString)
                .containsExactly("spec.devices.requests: Too many: 33: must have at most 32 items");
    }

    @Test
    void aConstraintHasAnAttributeWhichWithoutTheGateMustBeEqual() {
        ObjectNode spec = tree("{'devices':{'constraints':[{}]}}");

        assertThat(check(spec, KubernetesVersion.V1_36))
                .extracting(FieldError::field)
                .containsExactly("spec.devices.constraints[0]");
        assertThat(check(spec, KubernetesVersion.V1_35))
                .extracting(FieldError::field)
                .containsExactly("spec.devices.constraints[0].matchAttribute");
    }
}
