// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.FieldErrors.FieldError;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Classes of devices. */
class ClassRulesTest {
    private static List<String> check(String spec) {
        FieldErrors errors = new FieldErrors();
        ClassRules.check(tree(spec), ExpressionCompiler.NONE, errors);
        return errors.all().stream().map(FieldError::toString).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"example.com/gpu", "a/b", "kubernetes.example.com/x.y_z"})
    void itMayHaveTheNameOfAnExtendedResource(String name) {
        assertThat(check("{'extendedResourceName':'" + name + "'}")).isEmpty();
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
        assertThat(check("{'extendedResourceName':'" + name + "'}"))
                .containsExactly("spec.extendedResourceName: Invalid value: \""
                        + name
                        + "\": must be a valid extended resource name");
    }

    @Test
    void selectorsAndConfigurationsAreChecked() {
        assertThat(check("{'selectors':[{}],'config':[{}]}"))
                .containsExactly("spec.selectors[0].cel: Required value", "spec.config[0].opaque: Required value");
    }
}
