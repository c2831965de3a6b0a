// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Foreign text: redaction, which nothing bypasses, and text that is shown whole or in part. */
class RedactionTest {

    /** All secrets in these tests contain it, or is Base64 of random bytes. */
    private static final String S3CRET = "hunter2";

    private static final Map<String, List<String>> TEXTS = texts();
    static final List<String> GOES = TEXTS.get("goes");
    static final List<String> STAYS = TEXTS.get("stays");

    private static Map<String, List<String>> texts() {
        try (InputStream file = RedactionTest.class.getResourceAsStream("redaction.yaml")) {
            return new YAMLMapper().readValue(file, new TypeReference<>() {});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String base64(int bytes, long seed) {
        byte[] random = new byte[bytes];
        new Random(seed).nextBytes(random);
        return Base64.getEncoder().encodeToString(random);
    }

    private static String token() {
        return "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJkcmEifQ.c2lnbmVk-" + S3CRET;
    }

    @Nested
    class WhatGoes {

        @ParameterizedTest
        @FieldSource("io.dra4j.conformance.report.RedactionTest#GOES")
        void whatIsCalledASecret(String text) {
            assertThat(Redaction.text(text)).contains(Redaction.REDACTED).doesNotContain(S3CRET);
        }

        @Test
        void jsonWebTokensWhereverTheyAre() {
            assertThat(Redaction.text("got <" + token() + ">")).isEqualTo("got <REDACTED>");
        }

        @ParameterizedTest
        @ValueSource(ints = {30, 32, 48, 64, 256, 2400})
        void base64OfRandomBytes(int bytes) {
            for (int seed = 0; seed < 100; seed++) {
                String secret = base64(bytes, seed);

                assertThat(Redaction.text("data " + secret + ".")).isEqualTo("data REDACTED.");
            }
        }

        @Test
        void theBase64OfAPrivateKeyFile() {
            String key = "-----BEGIN EC PRIVATE KEY-----\n" + base64(160, 3) + "\n-----END-----\n";
            String data = Base64.getEncoder().encodeToString(key.getBytes(StandardCharsets.UTF_8));

            assertThat(Redaction.text("certificate " + data)).isEqualTo("certificate REDACTED");
        }
    }

    @Nested
    class WhatStays {

        @ParameterizedTest
        @FieldSource("io.dra4j.conformance.report.RedactionTest#STAYS")
        void whatHelps(String text) {
            assertThat(Redaction.text(text)).isEqualTo(text);
        }

        @Test
        void whatWasRedactedBefore() {
            String once = Redaction.text("token: x\nAuthorization: Bearer y " + base64(60, 1));

            assertThat(Redaction.text(once)).isEqualTo(once);
        }
    }

    @Test
    void longTextsTakeNoTime() {
        List<String> unkind = List.of("a", "token", "\"", "-", " ", "://a", "name: token ", "-----BEGIN ", "eyJ");

        assertThat(unkind).allSatisfy(part -> {
            String text = part.repeat(200_000 / part.length());
            long begin = System.nanoTime();
            Redaction.text(text);
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).as(part).isLessThan(Duration.ofSeconds(20));
        });
    }

    @Nested
    class Everywhere {

        private final String planted =
                "token: %s\nAuthorization: Bearer %s\n%s\n%s".formatted(S3CRET, S3CRET, token(), base64(60, 7));

        private RunOutcome outcome() {
            List<Result> results = new ArrayList<>();
            for (Verdict verdict : Verdict.values()) {
                Result result = SampleOutcome.result(verdict.ordinal(), "v1", verdict, "");
                results.add(SampleOutcome.saying(planted, result));
            }
            RunOutcome outcome = SampleOutcome.outcome(results, planted, planted);
            return new RunOutcome(outcome.header(), outcome.profiles(), outcome.results(), List.of(planted));
        }

        @Test
        void noFileHasASecret(@TempDir Path directory) throws Exception {
            for (Path file : Reports.write(outcome(), directory)) {
                assertThat(Files.readString(file))
                        .as(file.toString())
                        .contains(Redaction.REDACTED)
                        .doesNotContain(S3CRET, "eyJ", base64(60, 7));
            }
        }

        @ParameterizedTest
        @ValueSource(booleans = {true, false})
        void theTerminalShowsNone(boolean live) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
            TerminalProgress progress = new TerminalProgress(new Terminal(out, true, live));

            outcome().results().forEach(progress::ended);
            progress.finished(outcome(), List.of());

            assertThat(bytes.toString(StandardCharsets.UTF_8))
                    .contains(Redaction.REDACTED)
                    .doesNotContain(S3CRET, "eyJ", base64(60, 7));
        }
    }

    @Nested
    class Shown {

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
                assertThat(Excerpt.tail("first\nsecond\nthird line", 14))
                        .isEqualTo("… (13 characters before)\nthird line");
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
}
