// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The problems of names, in the server's words. */
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
}
