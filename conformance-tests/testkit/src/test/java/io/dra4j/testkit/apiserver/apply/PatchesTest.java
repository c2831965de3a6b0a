// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.apply;

import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.testkit.apiserver.model.ApiFailure;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The two merge formats on trees. */
class PatchesTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    {'a':1,'b':{'c':1}} | {'a':null,'b':{'d':2}} | {'b':{'c':1,'d':2}}
                    {'a':[1,2]}         | {'a':[3]}              | {'a':[3]}
                    {'a':1}             | {'a':{'b':null,'c':1}} | {'a':{'c':1}}
                    """)
    void aMergePatchMergesObjectsAndReplacesTheRest(String target, String patch, String result) {
        assertThat(Patches.merge(tree(target), tree(patch))).isEqualTo(tree(result));
    }

    @ParameterizedTest
    @CsvFileSource(
            files =
                    "src/test/resources/io/dra4j/testkit/apiserver/apply/a-strategic-patch-merges-lists-by-their-keys.csv",
            delimiter = '|',
            quoteCharacter = '`')
    void aStrategicPatchMergesListsByTheirKeys(String target, String patch, String result) {
        assertThat(Patches.StrategicMerge.apply(tree(target), tree(patch))).isEqualTo(tree(result));
    }

    @ParameterizedTest
    @ValueSource(strings = {"{'$retainKeys':['a']}", "{'tolerations':[{'$retainKeys':['a']}]}", "{'conditions':['a']}"})
    void whatItDoesNotKnowIsRefused(String patch) {
        assertThatThrownBy(() -> Patches.StrategicMerge.apply(tree("{}"), tree(patch)))
                .isInstanceOf(ApiFailure.class)
                .hasMessageMatching(".*(directive \\$retainKeys|is not an object: \"a\")");
    }
}
