// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Selectors by field and by label. */
class SelectorTest {
    private final ResourceKinds kinds = new ResourceKinds(KubernetesVersion.V1_36);
    private final ResourceKind slices = kinds.named("resourceslices");
    private final StoredObject slice = new StoredObject(
            slices,
            new ObjectKey("", "s1"),
            7,
            tree("{'metadata':{'name':'s1','labels':{'app':'a','tier':'x'}},"
                    + "'spec':{'driver':'gpu.example.com','nodeName':'node-1','pool':{'name':'a'}}}"));

    @Nested
    class ByField {
        @ParameterizedTest
        @CsvFileSource(
                files = "src/test/resources/io/dra4j/testkit/apiserver/store/field-selectors.csv",
                delimiter = '|',
                quoteCharacter = '\'')
        void matchesOrNot(String selector, boolean matches) {
            assertThat(FieldSelector.parse(slices, selector).matches(slice)).isEqualTo(matches);
        }

        @ParameterizedTest
        @ValueSource(strings = {"spec.pool.name=a", "metadata.namespace=a", "spec.nodeName"})
        void isRefused(String selector) {
            assertThatThrownBy(() -> FieldSelector.parse(slices, selector))
                    .isInstanceOfSatisfying(
                            ApiFailure.class,
                            failure -> assertThat(failure.code()).isEqualTo(400));
        }

        @Test
        void knowsPoolsFrom137() {
            ResourceKind newer = new ResourceKinds(KubernetesVersion.V1_37).named("resourceslices");

            assertThat(FieldSelector.parse(newer, "spec.pool.name=a").matches(slice))
                    .isTrue();
            assertThat(FieldSelector.parse(newer, "spec.pool.name=b").matches(slice))
                    .isFalse();
        }
    }

    @Nested
    class ByLabel {
        @ParameterizedTest
        @CsvFileSource(
                files = "src/test/resources/io/dra4j/testkit/apiserver/store/label-selectors.csv",
                delimiter = '|',
                quoteCharacter = '\'')
        void matchesOrNot(String selector, boolean matches) {
            assertThat(LabelSelector.parse(selector).matches(slice)).isEqualTo(matches);
        }

        @Test
        void isRefused() {
            assertThatThrownBy(() -> LabelSelector.parse("app in a")).isInstanceOf(ApiFailure.class);
        }
    }
}
