// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each requirement of the areas of claims is shown by a test, or it is said why not. */
class RequirementTagsTest {

    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();
    private static final Pattern TAG = Pattern.compile("@Tag\\(\"(DRA-[A-Z]+-[0-9]{2})\"\\)");

    private static final Set<String> AREAS =
            Set.of("PREP", "UNP", "CDI", "RST", "UPG", "HLT", "SHUT", "SEC");

    private static final Map<String, String> UNTESTED =
            Map.of(
                    "DRA-PREP-35", "a black box cannot tell a stale prepare from a new one",
                    "DRA-RST-08", "there is no earlier release whose state could be read");

    @Test
    void everyRequirementOfClaimsHasATest() throws IOException {
        Set<String> wanted =
                Catalogue.load().requirements().stream()
                        .filter(requirement -> AREAS.contains(requirement.area()))
                        .map(Requirement::id)
                        .collect(Collectors.toCollection(TreeSet::new));
        wanted.removeAll(UNTESTED.keySet());

        Set<String> shown = shown();

        assertThat(shown).doesNotContainAnyElementsOf(UNTESTED.keySet());
        assertThat(shown).containsAll(wanted);
    }

    @Test
    void everyTagIsARequirementOfTheCatalogue() throws IOException {
        Catalogue catalogue = Catalogue.load();

        assertThat(shown()).isNotEmpty().allMatch(id -> catalogue.find(id).isPresent());
    }

    private static Set<String> shown() throws IOException {
        Set<String> shown = new TreeSet<>();
        for (String module :
                List.of(
                        "conformance-tests/testkit",
                        "conformance-tests/suite",
                        "sdk-runtime",
                        "example-fake-driver")) {
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
