// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The README's first program is one that compiles. */
class ReadmeTest {

    private static final Path SOURCE =
            Path.of("src/test/java/io/dra4j/example/SmallestDriver.java");

    @Test
    void quotesTheSmallestDriver() throws IOException {
        List<String> readme = Files.readAllLines(Path.of("../README.md"));
        List<String> source = Files.readAllLines(SOURCE);

        List<String> quoted = between(readme, "```java", "```");
        List<String> region = between(source, "// #region readme", "// #endregion readme");

        assertThat(quoted).isEqualTo(region);
    }

    private static List<String> between(List<String> lines, String first, String last) {
        int start = lines.indexOf(first) + 1;
        List<String> rest = lines.subList(start, lines.size());
        return rest.subList(0, rest.indexOf(last));
    }
}
