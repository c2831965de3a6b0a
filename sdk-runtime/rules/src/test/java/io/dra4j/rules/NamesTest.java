// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The problems of names, in the server's words; and the two forms of a driver's own. */
class NamesTest {

    private static final String SUBDOMAIN =
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must"
                    + " start and end with an alphanumeric character (e.g. 'example.com', regex used for validation"
                    + " is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

    @Test
    void aNameHasAllItsProblems() {
        assertThat(Names.dnsSubdomainProblems("A".repeat(254)))
                .containsExactly("must be no more than 253 characters", SUBDOMAIN);
        assertThat(Names.qualifiedNameProblems("A/"))
                .hasSize(3)
                .startsWith("prefix part " + SUBDOMAIN, "name part must be non-empty");
    }

    @Test
    void aGoodNameHasNone() {
        assertThat(Names.dnsLabelProblems("gpu-0")).isEmpty();
        assertThat(Names.driverProblems("GPU.Example.com")).isEmpty();
        assertThat(Names.qualifiedNameProblems("example.com/My_key")).isEmpty();
        assertThat(Names.labelValueProblems("")).isEmpty();
    }

    @Test
    void dotsMakeNoLabelButASubdomain() {
        assertThat(Names.dnsLabelProblems("a.b")).containsExactly("must not contain dots");
    }

    @Test
    void theLengthIsInBytes() {
        assertThat(Names.labelValueProblems("\u00e9".repeat(32)))
                .hasSize(2)
                .first()
                .isEqualTo("must be no more than 63 bytes");
    }

    @Test
    void textsAreQuotedAsInGo() {
        assertThat(QuotedText.of("a\n\"\\\u00fc\u200b\u0001")).isEqualTo("\"a\\n\\\"\\\\\u00fc\\u200b\\x01\"");
    }

    @Test
    void aNameOfAnyLengthIsJudged() {
        String parts = "a.".repeat(100_000);

        assertThat(Names.dnsSubdomainProblems(parts + "a")).hasSize(1);
        assertThat(Names.dnsSubdomainProblems(parts)).hasSize(2);
    }

    @Nested
    class OfTheDriversDomain {

        private final OwnNames names = new OwnNames("drv.example");

        @Test
        void onlyTheDriversOwnDomainIsLeftOut() {
            assertThat(names.bare("drv.example/x")).isEqualTo("x");
            assertThat(names.bare("x")).isEqualTo("x");
            assertThat(names.bare("a.drv.example/x")).isEqualTo("a.drv.example/x");
            assertThat(names.bare("drv.example.com/x")).isEqualTo("drv.example.com/x");
        }

        @Test
        void aNameOfAnotherDomainHasOneForm() {
            assertThat(names.other("x")).isEqualTo("drv.example/x");
            assertThat(names.other("drv.example/x")).isEqualTo("x");
            assertThat(names.other("other.example/x")).isEqualTo("other.example/x");
        }

        @Test
        void bothFormsFindWhatIsThereInEither() {
            Map<String, Integer> byName = Map.of("x", 1, "drv.example/y", 2, "other.example/x", 3);

            assertThat(names.find(byName, "x")).contains(1);
            assertThat(names.find(byName, "drv.example/x")).contains(1);
            assertThat(names.find(byName, "y")).contains(2);
            assertThat(names.find(byName, "drv.example/y")).contains(2);
            assertThat(names.find(byName, "other.example/x")).contains(3);
            assertThat(names.find(byName, "other.example/y")).isEmpty();
        }

        @Test
        void theLongFormCounts() {
            Map<String, Integer> byName = Map.of("x", 1, "drv.example/x", 2);

            assertThat(names.find(byName, "x")).contains(2);
            assertThat(names.find(byName, "drv.example/x")).contains(2);
            assertThat(names.counts(byName, "x")).isFalse();
            assertThat(OwnNames.literal().find(byName, "x")).contains(1);
            assertThat(OwnNames.literal().find(Map.of("x", 1), "drv.example/x")).isEmpty();
        }
    }
}
