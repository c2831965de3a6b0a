// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

/** Times as the real server reads them. */
class Rfc3339Test {
    private static final String LAYOUT = " as \"2006-01-02T15:04:05Z07:00\": cannot parse ";

    @ParameterizedTest
    @CsvSource({
        "2026-01-01T01:00:00.9+01:00, 2026-01-01T00:00:00Z",
        "'2026-01-01T01:00:00,25Z', 2026-01-01T01:00:00Z",
        "2026-01-01T1:02:03Z, 2026-01-01T01:02:03Z",
        "2028-02-29T23:59:59-24:00, 2028-03-01T23:59:59Z",
    })
    void aTimeIsInUtcWithoutItsFraction(String sent, String stored) {
        Rfc3339 time = Rfc3339.read(sent);

        assertThat(time.problem()).isEmpty();
        assertThat(time.seconds()).isEqualTo(stored);
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/testkit/apiserver/validation/a-part-of-another-form-is-named.csv",
            delimiter = '|',
            quoteCharacter = '`')
    void aPartOfAnotherFormIsNamed(String sent, String rest, String element) {
        assertThat(Rfc3339.read(sent).problem())
                .isEqualTo("parsing time \"%s\"%s\"%s\" as \"%s\"".formatted(sent, LAYOUT, rest, element));
    }

    @ParameterizedTest
    @CsvSource({
        "2026-13-01T00:00:00Z, month",
        "2026-02-29T00:00:00Z, day",
        "2026-01-01T24:00:00Z, hour",
        "2026-01-01T00:60:00Z, minute",
        "2026-01-01T00:00:60Z, second",
        "2026-01-01T00:00:00+25:00, time zone offset hour",
    })
    void aPartOutOfItsRangeIsNamed(String sent, String part) {
        assertThat(Rfc3339.read(sent).problem()).isEqualTo("parsing time \"" + sent + "\": " + part + " out of range");
    }

    @ParameterizedTest
    @CsvSource({"2026-01-01T00:00:00Z., .", "2026-01-01T00:00:00+01:00Z, Z"})
    void whatFollowsIsTooMuch(String sent, String extra) {
        assertThat(Rfc3339.read(sent).problem())
                .isEqualTo("parsing time \"" + sent + "\": extra text: \"" + extra + "\"");
    }
}
