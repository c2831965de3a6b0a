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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The pages for vendors quote code that is compiled and tested. */
class QuotingPagesTest {

    private static final Path SOURCES = Path.of("src/test/java/io/dra4j/selfcheck");
    private static final Path PAGES = Path.of("../../docs-site/how-to");

    private static final Pattern QUOTED = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern REGION =
            Pattern.compile("^ *// #region (\\w+)\n(.*?)^ *// #endregion \\1\n", Pattern.DOTALL | Pattern.MULTILINE);

    @ParameterizedTest
    @CsvSource({
        "test-your-driver.md, TestYourDriverIT",
        "write-your-provider.md, SampleFpgaDriver SampleFpgaProvider SampleNicProvider"
                + " ../../../../../../../../sdk-runtime/src/test/java/io/dra4j/runtime/process/TestDriverMain"
    })
    void snippetsAreTheRegionsInOrder(String page, String sources) throws IOException {
        List<String> regions = new ArrayList<>();
        for (String source : sources.split(" ")) {
            String code = Files.readString(SOURCES.resolve(source + ".java"));
            for (MatchResult region : REGION.matcher(code).results().toList()) {
                regions.add(region.group(2).stripTrailing().stripIndent() + "\n");
            }
        }
        String text = Files.readString(PAGES.resolve(page));
        List<String> quoted =
                QUOTED.matcher(text).results().map(r -> r.group(1)).toList();

        assertThat(regions).hasSizeGreaterThan(3);
        assertThat(quoted).isEqualTo(regions);
    }
}
