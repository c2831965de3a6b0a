// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PathSegmentsTest {

    @Test
    void decodesBeforeItSplits() {
        assertThat(PathSegments.of("/api/v1/nodes/a%2Fb")).containsExactly("api", "v1", "nodes", "a", "b");
        assertThat(PathSegments.of("/api/%252e")).containsExactly("api", "%2e");
        assertThat(PathSegments.of("/x%C3%A9%00")).containsExactly("x\u00e9\u0000");
    }

    @Test
    void leavesWhatHasNoMeaningInAPath() {
        assertThat(PathSegments.of("/nodes/x;b=1")).containsExactly("nodes", "x;b=1");
        assertThat(PathSegments.of("/nodes/a+b")).containsExactly("nodes", "a+b");
        assertThat(PathSegments.of("/a/../b/./c")).containsExactly("a", "..", "b", ".", "c");
    }

    @Test
    void ignoresSlashesAtBothEndsAlone() {
        assertThat(PathSegments.of("//a//b/")).containsExactly("a", "", "b");
        assertThat(PathSegments.of("/")).isEqualTo(List.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a/%", "/a/%4", "/a/%zz", "/a/%-1", "/a/%+1"})
    void refusesAnEscapeThatIsNone(String path) {
        assertThatThrownBy(() -> PathSegments.of(path)).isInstanceOf(IllegalArgumentException.class);
    }
}
