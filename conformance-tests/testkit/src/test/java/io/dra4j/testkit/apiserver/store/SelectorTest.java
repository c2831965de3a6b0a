// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.store;

import static io.dra4j.testkit.apiserver.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.KubernetesVersion;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Selectors by field and by label. */
class SelectorTest {
    private final ResourceKinds kinds = new ResourceKinds(KubernetesVersion.V1_36);
    private final ResourceKind slices = kinds.named("resourceslices");
    private final StoredObject slice =
            new StoredObject(
                    slices,
                    new ObjectKey("", "s1"),
                    7,
                    tree(
                            "{'metadata':{'name':'s1','labels':{'app':'a','tier':'x'}},"
                                    + "'spec':{'driver':'gpu.example.com','nodeName':'node-1'}}"));

    @Nested
    class ByField {
        @ParameterizedTest
        @ValueSource(
                strings = {
                    "",
                    "metadata.name=s1",
                    "spec.nodeName==node-1",
                    "spec.nodeName!=node-2",
                    "spec.driver=gpu.example.com,spec.nodeName=node-1"
                })
        void matches(String selector) {
            assertThat(FieldSelector.parse(slices, selector).matches(slice)).isTrue();
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "spec.nodeName=",
                    "spec.nodeName!=node-1",
                    "metadata.name=s1,spec.driver=x"
                })
        void doesNotMatch(String selector) {
            assertThat(FieldSelector.parse(slices, selector).matches(slice)).isFalse();
        }

        @ParameterizedTest
        @ValueSource(strings = {"spec.pool.name=a", "metadata.namespace=a", "spec.nodeName"})
        void isRefused(String selector) {
            assertThatThrownBy(() -> FieldSelector.parse(slices, selector))
                    .isInstanceOfSatisfying(
                            ApiFailure.class, failure -> assertThat(failure.code()).isEqualTo(400));
        }

        @Test
        void knowsPoolsFrom137() {
            ResourceKind newer = new ResourceKinds(KubernetesVersion.V1_37).named("resourceslices");

            assertThat(FieldSelector.parse(newer, "spec.pool.name=a").matches(slice)).isFalse();
        }
    }

    @Nested
    class ByLabel {
        @ParameterizedTest
        @ValueSource(
                strings = {
                    "app=a",
                    "app == a",
                    "app!=b",
                    "none!=a",
                    "app in (a, b),tier=x",
                    "app notin (b)",
                    "none notin (a)",
                    "app",
                    "!none"
                })
        void matches(String selector) {
            assertThat(LabelSelector.parse(selector).matches(slice)).isTrue();
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "app=b",
                    "app!=a",
                    "none=a",
                    "app in (b)",
                    "app notin (a,b)",
                    "none",
                    "!app"
                })
        void doesNotMatch(String selector) {
            assertThat(LabelSelector.parse(selector).matches(slice)).isFalse();
        }

        @Test
        void isRefused() {
            assertThatThrownBy(() -> LabelSelector.parse("app in a"))
                    .isInstanceOf(ApiFailure.class);
        }
    }
}
