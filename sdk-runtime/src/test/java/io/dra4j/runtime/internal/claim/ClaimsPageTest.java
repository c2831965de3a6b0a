// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page on claims: each row of what may vanish names a test that there is. */
class ClaimsPageTest {

    private static final Path PAGE = Path.of("../docs-site/explanation/claims.md");

    @Test
    void eachRowOfWhatMayVanishNamesItsTests() throws IOException {
        Set<String> tests = tests();
        List<String> rows = Files.readString(PAGE)
                .lines()
                .dropWhile(line -> !line.startsWith("| what vanishes"))
                .skip(2)
                .takeWhile(line -> line.startsWith("|"))
                .toList();

        assertThat(rows).hasSizeGreaterThan(8).allSatisfy(row -> {
            String[] cells = row.split("\\|");
            List<String> named = Pattern.compile("`([A-Za-z]+)`")
                    .matcher(cells[4])
                    .results()
                    .map(MatchResult::group)
                    .map(name -> name.replace("`", ""))
                    .toList();
            assertThat(named).isNotEmpty().isSubsetOf(tests);
        });
    }

    private static Set<String> tests() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("."))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.matches(".+(Test|IT)\\.java"))
                    .map(name -> name.replace(".java", ""))
                    .collect(Collectors.toSet());
        }
    }
}
