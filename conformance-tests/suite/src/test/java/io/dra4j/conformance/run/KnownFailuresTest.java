// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.run.KnownFailures.KnownFailure;
import io.dra4j.testkit.settings.SettingsException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The file of known failures, and its effect on results. */
class KnownFailuresTest {

    private static final Catalogue CATALOGUE = Catalogue.load();
    private static final LocalDate LAST_DAY = LocalDate.of(2027, 1, 31);

    private static Result result(String id, String variant, Verdict verdict) {
        return new Result(
                CATALOGUE.find(id).orElseThrow(), variant, verdict, "it is so", Duration.ofMillis(1), Evidence.NONE);
    }

    private static KnownFailure entry(String id, String variant) {
        URI issue = URI.create("https://example.com/issues/5");
        return new KnownFailure(id, variant, issue, LAST_DAY, "comes with release 2");
    }

    /** The verdict that an entry makes of one of DRA-PREP-03[v1], and what it says, days after its promise. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    DRA-PREP-03 | ``      | 0 | FAIL           | DEVIATION      | A known failure until 2027-01-31: comes with release 2 (https://example.com/issues/5) |
                    DRA-PREP-03 | v1      | 0 | FAIL           | DEVIATION      | A known failure until 2027-01-31: comes with release 2 (https://example.com/issues/5) |
                    DRA-PREP-03 | v1beta1 | 0 | FAIL           | FAIL           | | DRA-PREP-03[v1beta1] is listed, but was not part of this run
                    DRA-PREP-03 | ``      | 1 | FAIL           | FAIL           | The known failure that was listed for it expired on 2027-01-31 (https://example.com/issues/5). |
                    DRA-PREP-01 | ``      | 0 | FAIL           | FAIL           | | DRA-PREP-01 is listed, but was not part of this run
                    DRA-OLD-07  | ``      | 0 | FAIL           | FAIL           | | DRA-OLD-07 is listed, but no requirement has this id
                    DRA-PREP-03 | v1      | 0 | PASS           | PASS           | | DRA-PREP-03[v1] is listed, but did not fail: remove it from the list
                    DRA-PREP-03 | ``      | 0 | WARN           | WARN           | | DRA-PREP-03 is listed, but did not fail: remove it from the list
                    DRA-PREP-03 | ``      | 0 | INFO           | INFO           | | DRA-PREP-03 is listed, but did not fail: remove it from the list
                    DRA-PREP-03 | ``      | 0 | NOT_APPLICABLE | NOT_APPLICABLE | |
                    DRA-PREP-03 | ``      | 0 | BLOCKED        | BLOCKED        | |
                    DRA-PREP-03 | ``      | 0 | UNTESTED       | UNTESTED       | |
                    DRA-PREP-03 | ``      | 0 | SKIPPED        | SKIPPED        | |
                    DRA-PREP-03 | ``      | 0 | DEVIATION      | DEVIATION      | |
                    DRA-PREP-03 | ``      | 0 | SUITE_ERROR    | SUITE_ERROR    | |
                    """)
    void anEntryExcusesAFailure(
            String id,
            String variant,
            int days,
            Verdict verdict,
            Verdict then,
            @Nullable String more,
            @Nullable String note) {
        KnownFailures.Applied applied = new KnownFailures(List.of(entry(id, variant)))
                .apply(
                        List.of(result("DRA-PREP-03", "v1", verdict)),
                        Set.of("DRA-PREP-01", "DRA-PREP-03"),
                        LAST_DAY.plusDays(days));

        assertThat(applied.results()).singleElement().satisfies(result -> {
            assertThat(result.verdict()).isEqualTo(then);
            assertThat(result.message()).isEqualTo(more == null ? "it is so" : "it is so\n" + more);
        });
        assertThat(applied.notes()).isEqualTo(note == null ? List.of() : List.of("known failures: " + note));
    }

    @Nested
    class TheFile {

        @TempDir
        private Path directory;

        private Path file(String text) throws IOException {
            return Files.writeString(directory.resolve("known-failures.yaml"), text);
        }

        @Test
        void listsTheKnownFaults() throws Exception {
            Path file = file("""
                            # ours
                            - id: PREP-03
                              variant: v1
                              issue: https://example.com/issues/5
                              expires: 2027-01-31
                              reason: comes with release 2
                            """);

            assertThat(KnownFailures.read(file).entries()).containsExactly(entry("DRA-PREP-03", "v1"));
            for (String none : List.of("", "# none yet", "---", "[]")) {
                assertThat(KnownFailures.read(file(none)).entries()).isEmpty();
            }
        }

        @ParameterizedTest
        @MethodSource("io.dra4j.conformance.run.KnownFailuresTest#wrong")
        void isReadStrictly(String change, String replacement, String message) throws Exception {
            String right = """
                    - id: DRA-PREP-03
                      issue: https://example.com/issues/5
                      expires: 2027-01-31
                      reason: soon
                    """;
            Path file = file(right.replace(change, replacement));

            assertThatThrownBy(() -> KnownFailures.read(file))
                    .isInstanceOf(SettingsException.class)
                    .hasMessageContainingAll("known-failures.yaml: ", message)
                    .message()
                    .doesNotContain("\n");
        }

        @Test
        void mustBeThere() {
            assertThatThrownBy(() -> KnownFailures.read(directory.resolve("none.yaml")))
                    .isInstanceOf(SettingsException.class)
                    .hasMessageEndingWith("none.yaml: no such file");
        }
    }

    static Stream<Arguments> wrong() {
        return Stream.of(
                Arguments.of("reason: soon", "", "entry 1: reason is missing"),
                Arguments.of("reason: soon", "reason: ' '", "entry 1: reason is missing"),
                Arguments.of("id: DRA-PREP-03", "id:", "entry 1: id is missing"),
                Arguments.of("soon", "soon\n  owner: me", "Unrecognized field \"owner\""),
                Arguments.of("2027-01-31", "2027-02-31", "expires must be a day such as"),
                Arguments.of("2027-01-31", "soon", "not soon"),
                Arguments.of("https://example.com/issues/5", "'#5'", "issue must be the URL"),
                Arguments.of("soon", "soon\n  reason: later", "Duplicate field 'reason'"),
                Arguments.of("- id", "-\n id", "line "),
                Arguments.of("- id", "-\n- id", "entry 1 is empty"),
                Arguments.of("- id: DRA-PREP-03\n ", "id: DRA-PREP-03\n", "line "));
    }

    @Test
    void nothingIsListedTwice() {
        assertThatThrownBy(() -> new KnownFailures(List.of(entry("DRA-PREP-03", "v1"), entry("DRA-PREP-03", "v1"))))
                .isInstanceOf(SettingsException.class)
                .hasMessage("DRA-PREP-03[v1] is listed twice");
    }
}
