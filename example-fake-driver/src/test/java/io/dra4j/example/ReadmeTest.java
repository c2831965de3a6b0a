// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The README's first program is one that compiles, and what it and its neighbours link to exists. */
class ReadmeTest {

    private static final Path SOURCE = Path.of("src/test/java/io/dra4j/example/SmallestDriver.java");

    /** A link to a file, without its anchor. */
    private static final Pattern LINK = Pattern.compile("]\\(([^)#:]+)[^):]*\\)");

    @Test
    void quotesTheSmallestDriver() throws IOException {
        List<String> readme = Files.readAllLines(Path.of("../README.md"));
        List<String> source = Files.readAllLines(SOURCE);

        List<String> quoted = between(readme, "```java", "```");
        List<String> region = between(source, "// #region readme", "// #endregion readme");

        assertThat(quoted).isEqualTo(region);
    }

    @ParameterizedTest
    @ValueSource(strings = {"README", "CONTRIBUTING", "CHANGELOG", "SECURITY", "GOVERNANCE"})
    void linksLeadToWhatExists(String page) throws IOException {
        String text = Files.readString(Path.of("..", page + ".md"));
        List<String> links =
                LINK.matcher(text).results().map(link -> link.group(1)).toList();

        assertThat(links)
                .isNotEmpty()
                .allSatisfy(link -> assertThat(Path.of("..", link)).as(link).exists());
    }

    private static List<String> between(List<String> lines, String first, String last) {
        int start = lines.indexOf(first) + 1;
        List<String> rest = lines.subList(start, lines.size());
        return rest.subList(0, rest.indexOf(last));
    }
}
