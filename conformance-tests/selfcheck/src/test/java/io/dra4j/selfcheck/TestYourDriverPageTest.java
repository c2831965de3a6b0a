// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page about tests of a driver quotes tests that run. */
class TestYourDriverPageTest {

    private static final Path SOURCE =
            Path.of("src/test/java/io/dra4j/selfcheck/TestYourDriverIT.java");
    private static final Path PAGE = Path.of("../../docs-site/how-to/test-your-driver.md");

    private static final Pattern QUOTED = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern REGION =
            Pattern.compile(
                    "^ *// #region (\\w+)\n(.*?)^ *// #endregion \\1\n",
                    Pattern.DOTALL | Pattern.MULTILINE);

    @Test
    void itsSnippetsAreTheRegionsInOrder() throws IOException {
        List<String> quoted =
                QUOTED.matcher(Files.readString(PAGE)).results().map(r -> r.group(1)).toList();
        List<String> regions = new ArrayList<>();
        for (MatchResult region : REGION.matcher(Files.readString(SOURCE)).results().toList()) {
            regions.add(region.group(2).stripTrailing().stripIndent() + "\n");
        }

        assertThat(regions).hasSizeGreaterThan(3);
        assertThat(quoted).isEqualTo(regions);
    }
}
