// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Classes of devices; and expressions, which are checked for length, by the compiler, and for cost. */
class ClassRulesTest {

    private static final ExpressionCompiler FINDS_BAD = new ExpressionCompiler() {
        @Override
        public String selectorProblem(String expression) {
            return expression.equals("bad") ? "no selector" : "";
        }

        @Override
        public String derivedAttributeProblem(String expression) {
            return expression.equals("bad") ? "no attribute" : "";
        }

        @Override
        public boolean exceedsCost(String expression) {
            return expression.equals("costly");
        }
    };

    private static List<String> errors(JsonNode classSpec) {
        FieldErrors errors = new FieldErrors();
        ClassRules.check(classSpec, FINDS_BAD, errors);
        return errors.all().stream().map(FieldErrors.FieldError::toString).toList();
    }

    private static ObjectNode selector(String expression) {
        ObjectNode spec = JsonNodeFactory.instance.objectNode();
        spec.putArray("selectors").addObject().putObject("cel").put("expression", expression);
        return spec;
    }

    @Test
    void theCompilersProblemIsAnError() {
        assertThat(errors(selector("good"))).isEmpty();
        assertThat(errors(selector("bad")))
                .containsExactly("spec.selectors[0].cel.expression: Invalid value: \"bad\": no selector");
        assertThat(errors(selector("costly")))
                .containsExactly("spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit");
    }

    @Test
    void anAttributeIsNoSelector() {
        FieldErrors errors = new FieldErrors();
        String claim = """
                {'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'c','allocationMode':'All',
                  'derivedAttributes':[{'name':'a.com/n','expression':'bad'}]}}],
                 'constraints':[{'matchAttribute':'a.com/n'}]}}
                """;

        FeatureGates gates = new FeatureGates(KubernetesVersion.V1_37, Map.of());
        ClaimRules.checkSpec(tree(claim), "spec", gates, FINDS_BAD, errors);

        assertThat(errors.all())
                .singleElement()
                .hasToString(
                        "spec.devices.requests[0].exactly.derivedAttributes[0].expression: Invalid value: \"bad\": no attribute");
    }

    @Test
    void theLengthCountsInBytes() {
        assertThat(errors(selector("x".repeat(10 * 1024)))).isEmpty();
        assertThat(errors(selector("ü".repeat(5 * 1024 + 1))))
                .containsExactly("spec.selectors[0].cel.expression: Too long: may not be more than 10240 bytes");
    }

    @Test
    void tooManySelectorsAreNotCompiled() {
        ObjectNode spec = selector("bad");
        JsonNode first = spec.path("selectors").path(0);
        for (int i = 0; i < 32; i++) {
            spec.withArray("selectors").add(first);
        }

        assertThat(errors(spec)).containsExactly("spec.selectors: Too many: 33: must have at most 32 items");
    }

    @Test
    void taintRulesSelectDevicesToo() {
        FieldErrors errors = new FieldErrors();
        ObjectNode rule = JsonNodeFactory.instance.objectNode();
        rule.set("deviceSelector", selector("bad"));

        TaintRuleRules.check(rule, FINDS_BAD, errors);

        assertThat(errors.all())
                .anyMatch(error -> error.toString()
                        .startsWith("spec.deviceSelector.selectors[0].cel.expression: Invalid value: \"bad\""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"example.com/gpu", "a/b", "kubernetes.example.com/x.y_z"})
    void itMayHaveTheNameOfAnExtendedResource(String name) {
        assertThat(errors(tree("{'extendedResourceName':'" + name + "'}"))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "gpu",
                "kubernetes.io/gpu",
                "resource.kubernetes.io/gpu",
                "requests.example.com/gpu",
                "example.com/",
                "/gpu",
                "a/b/c",
                "Example.com/gpu",
                "example.com/-",
            })
    void anotherNameIsRefused(String name) {
        assertThat(errors(tree("{'extendedResourceName':'" + name + "'}")))
                .containsExactly("spec.extendedResourceName: Invalid value: \""
                        + name
                        + "\": must be a valid extended resource name");
    }

    @Test
    void selectorsAndConfigurationsAreChecked() {
        assertThat(errors(tree("{'selectors':[{}],'config':[{}]}")))
                .containsExactly("spec.selectors[0].cel: Required value", "spec.config[0].opaque: Required value");
    }
}
