// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.repository;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The tests with more to do at night are those that the nightly run selects for it. */
class NightlyCountsTest {

    /** The files that contain a text, except for this one. */
    private static List<String> holding(String text) throws Exception {
        String grep = "grep -rlF --include=*.java --exclude-dir=target --exclude-dir=node_modules '" + text + "' .";
        return Script.run(Map.of(), "-c", grep)
                .output()
                .lines()
                .filter(file -> !file.endsWith("/NightlyCountsTest.java"))
                .sorted()
                .toList();
    }

    @Test
    void areOfClassesWithTheTag() throws Exception {
        assertThat(holding("dra4j.nightly")).hasSizeGreaterThan(15).isEqualTo(holding("@Tag(\"counts\")"));
    }
}
