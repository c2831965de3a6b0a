// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.requirements;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CatalogueTest {

    @Nested
    class TheSuitesOwn {

        private final Catalogue catalogue = Catalogue.load();

        @Test
        void numbersEachAreaFromOne() {
            assertThat(areas())
                    .allSatisfy(
                            (area, count) -> assertThat(idsOf(area)).containsExactlyElementsOf(numbered(area, count)));
        }

        @Test
        void checksWithEachServiceWhatTheServicesDo() {
            assertThat(catalogue.requirements())
                    .filteredOn(Requirement::perService)
                    .extracting(Requirement::area)
                    .containsOnly("PREP", "UNP", "CDI")
                    .hasSize(60);
        }

        @Test
        void saysOfEachRequirementWhereItIsFromAndWhereDriversGoWrong() {
            assertThat(catalogue.requirements()).allSatisfy(requirement -> {
                assertThat(requirement.source()).isNotBlank();
                assertThat(requirement.hint()).hasSizeBetween(60, 500);
                assertThat(requirement.rule()).endsWith(".");
            });
        }

        /** A requirement without its own test cannot block others. */
        @Test
        void neverNeedsAnUntestedRequirement() {
            assertThat(catalogue.requirements())
                    .flatMap(requirement -> allNeeds(requirement))
                    .extracting(Requirement::observability)
                    .doesNotContain(Observability.UNTESTED);
        }

        private Set<Requirement> allNeeds(Requirement requirement) {
            Set<Requirement> all = new LinkedHashSet<>();
            for (String need : requirement.needs()) {
                Requirement needed = catalogue.find(need).orElseThrow();
                all.add(needed);
                all.addAll(allNeeds(needed));
            }
            return all;
        }

        private Map<String, Long> areas() {
            return catalogue.requirements().stream()
                    .collect(Collectors.groupingBy(Requirement::area, Collectors.counting()));
        }

        private List<String> idsOf(String area) {
            return catalogue.requirements().stream()
                    .filter(requirement -> requirement.area().equals(area))
                    .map(Requirement::id)
                    .toList();
        }
    }

    @Nested
    class ADamagedOne {

        @Test
        void namesAnIdThatIsThereTwice() {
            assertRefused(entry("") + entry(""), "t.yaml: DRA-REG-01 appears twice");
        }

        @ParameterizedTest
        @CsvSource(delimiter = '|', textBlock = """
                        colour: red             | t.yaml, DRA-REG-01: | "colour"
                        gates: [magic]          | t.yaml, DRA-REG-01: | "magic"
                        needs: [DRA-REG-02]     | DRA-REG-01          | requirement DRA-REG-02
                        needs: [DRA-REG-01]     | t.yaml: DRA-REG-01  | DRA-REG-01 needs itself
                        observability: untested | DRA-REG-01:         | untested is required
                        untested: too long      | DRA-REG-01:         | untested is required
                        """)
        void namesTheRequirementAndWhatIsWrong(String line, String place, String problem) {
            assertRefused(entry(line), place, problem);
        }

        private void assertRefused(String entries, String... parts) {
            assertThatIllegalStateException().isThrownBy(() -> read(entries)).withMessageContainingAll(parts);
        }
    }

    @Nested
    class AnEntry {

        @Test
        void hasEmptyTextsAndListsForWhatIsLeftOut() throws IOException {
            Requirement requirement = read(entry("")).requirements().get(0);

            assertThat(requirement.observability()).isEqualTo(Observability.DETERMINISTIC);
            assertThat(requirement.needs()).isEmpty();
            assertThat(requirement.gates()).isEmpty();
            assertThat(requirement.since()).isEmpty();
            assertThat(requirement.perService()).isFalse();
        }

        @Test
        void namesGatesByTheirLabels() throws IOException {
            Requirement requirement =
                    read(entry("gates: [not hc, cfgOK]")).requirements().get(0);

            assertThat(requirement.gates()).containsExactly(Applicability.CFG_OK, Applicability.NOT_HC);
        }
    }

    private static List<String> numbered(String area, long count) {
        return LongStream.rangeClosed(1, count)
                .mapToObj(("DRA-" + area + "-%02d")::formatted)
                .toList();
    }

    /** One whole entry, with another line. */
    private static String entry(String line) {
        return Stream.of(
                        "  - id: DRA-REG-01",
                        "    level: MUST",
                        "    profile: p",
                        "    rule: A rule.",
                        "    source: a file",
                        line.isEmpty() ? "" : "    " + line)
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining("\n", "", "\n"));
    }

    private static Catalogue read(String entries) throws IOException {
        String head = """
                version: "1"
                profiles: [{name: p, core: true, title: one}]
                requirements:
                """;
        byte[] file = (head + entries).getBytes(StandardCharsets.UTF_8);
        return Catalogue.read("t.yaml", new ByteArrayInputStream(file));
    }
}
