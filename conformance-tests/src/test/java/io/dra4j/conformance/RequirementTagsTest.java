// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each requirement of the areas of claims is shown by a test, or it is said why not. */
class RequirementTagsTest {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern TAG = Pattern.compile("@Tag\\(\"(DRA-[A-Z]+-[0-9]{2})\"\\)");

    /** How many requirements an area of the catalogue has. */
    private static final Map<String, Integer> AREAS =
            Map.of(
                    "PREP", 35, "UNP", 12, "CDI", 12, "RST", 10, "UPG", 5, "HLT", 6, "SHUT", 3,
                    "SEC", 5);

    private static final Map<String, String> UNTESTED =
            Map.of(
                    "DRA-PREP-35", "a black box cannot tell a stale prepare from a new one",
                    "DRA-RST-08", "there is no earlier release whose state could be read");

    @Test
    void everyRequirementOfClaimsHasATest() throws IOException {
        Set<String> wanted = new TreeSet<>();
        AREAS.forEach(
                (area, count) ->
                        IntStream.rangeClosed(1, count)
                                .mapToObj(i -> "DRA-%s-%02d".formatted(area, i))
                                .forEach(wanted::add));
        wanted.removeAll(UNTESTED.keySet());

        Set<String> shown = shown();

        assertThat(shown).doesNotContainAnyElementsOf(UNTESTED.keySet());
        assertThat(shown).containsAll(wanted);
    }

    private static Set<String> shown() throws IOException {
        Set<String> shown = new TreeSet<>();
        for (String module : List.of("conformance-tests", "sdk-runtime", "example-fake-driver")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/test/java"))) {
                for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    Matcher tags = TAG.matcher(Files.readString(file));
                    while (tags.find()) {
                        shown.add(tags.group(1));
                    }
                }
            }
        }
        return shown;
    }
}
