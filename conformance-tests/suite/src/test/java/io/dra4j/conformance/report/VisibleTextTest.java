// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Foreign text, shown whole or in part. */
class VisibleTextTest {

    @Test
    void ordinaryTextOfAnyScriptStaysAsItIs() {
        String text = "grün → שלום 設備 👩‍💻\n\ttab";

        assertThat(VisibleText.of(text)).isEqualTo(text);
    }

    @Test
    void whatActsOnATerminalOrAPageIsWrittenAsANumber() {
        assertThat(VisibleText.of("a\u001b[31mb")).isEqualTo("a\\u001b[31mb");
        assertThat(VisibleText.of("a\0b\bc\rd\u0085")).isEqualTo("a\\u0000b\\u0008c\\u000dd\\u0085");
        assertThat(VisibleText.of("left\u202eright\u2066")).isEqualTo("left\\u202eright\\u2066");
        assertThat(VisibleText.of("\ufeff\uffff\ud800x")).isEqualTo("\\ufeff\\uffff\\ud800x");
        assertThat(VisibleText.of("\u2028\u2029")).isEqualTo("\\u2028\\u2029");
    }

    @Test
    void linesOfWindowsAreLines() {
        assertThat(VisibleText.of("é\r\nb")).isEqualTo("é\nb");
    }

    @Nested
    class Excerpts {

        @Test
        void aShortTextIsWhole() {
            assertThat(Excerpt.head("abc", 3)).isEqualTo("abc");
            assertThat(Excerpt.tail("abc", 3)).isEqualTo("abc");
            assertThat(Excerpt.line("abc", 3)).isEqualTo("abc");
        }

        @Test
        void theRestIsCounted() {
            assertThat(Excerpt.head("abcdef", 4)).isEqualTo("abcd\n… (2 characters more)");
            assertThat(Excerpt.tail("abcdef", 4)).isEqualTo("… (2 characters before)\ncdef");
            assertThat(Excerpt.head("x".repeat(20_004), 4)).endsWith("… (20 kB more)");
        }

        @Test
        void anEndBeginsWithALine() {
            assertThat(Excerpt.tail("first\nsecond\nthird line", 14)).isEqualTo("… (13 characters before)\nthird line");
        }

        @Test
        void noCharacterIsCutInTwo() {
            assertThat(Excerpt.head("a👩b", 2)).startsWith("a\n");
            assertThat(Excerpt.tail("a👩b", 2)).endsWith("\nb");
        }

        @Test
        void aLineIsTheFirst() {
            assertThat(Excerpt.line("\none\ntwo", 10)).isEqualTo("one");
            assertThat(Excerpt.line("abcdef", 3)).isEqualTo("abc…");
        }
    }
}
