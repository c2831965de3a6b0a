// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.mutation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that only {@code TestMethodsTest} runs: Surefire does not know the name. */
class SampleCases {
    static int runs;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void isNotTwo(int number) {
        runs++;
        assertThat(number).isNotEqualTo(2);
    }

    @Test
    @Tag("slow")
    void isSlow() {}

    @Nested
    class Inner {
        @Test
        void passes() {}
    }
}
