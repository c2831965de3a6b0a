// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LenientVersionTest {

    /** The expression that the specification of semantic versions proposes. */
    private static final Pattern SEMVER = Pattern.compile("(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)"
            + "(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
            + "(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?");

    @ParameterizedTest
    @CsvSource({
        "1.2.3, 1.2.3",
        "1.2.3-rc.1+b.07, 1.2.3-rc.1+b.07",
        "550.163.01, 550.163.1",
        "'  v12.4 ', 12.4.0",
        "V7, 7.0.0",
        "000.00.0, 0.0.0",
        "1.02-rc.1+b7, 1.2.0-rc.1+b7",
        "6.19.14.31400000, 6.19.14+31400000",
        "580.159.04.1, 580.159.4+1",
        "1.2.3rc1 (beta), 1.2.3+rc1.beta",
        "1.2.3-01, 1.2.3+01",
        "1.2.3_p4/ü, 1.2.3+p4",
        "1.2.3+, 1.2.3",
        "1..2, 1.0.0+2",
        "1.2.3+a+b, 1.2.3+a.b",
        "999999999999999999.1, 999999999999999999.1.0"
    })
    void aVendorsTextBecomesASemanticVersion(String text, String version) {
        assertThat(AttributeValue.lenientVersion(text)).contains(AttributeValue.version(version));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "v", "latest", "r535.1", "-1.2.3", ".1", "1000000000000000000.1"})
    void aTextWithoutANumberAtItsStartIsNone(String text) {
        assertThat(AttributeValue.lenientVersion(text)).isEmpty();
    }

    @Test
    void anyTextIsASemanticVersionThatTheApiTakesOrNone() {
        Random random = new Random(7);
        String alphabet = "0019.vV-+ arc_(\nü";
        int versions = 0;
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder();
            int length = random.nextInt(i % 10 == 0 ? 100 : 12);
            random.ints(length, 0, alphabet.length()).forEach(at -> text.append(alphabet.charAt(at)));
            Optional<String> version = LenientVersion.of(text.toString());
            versions += version.isPresent() ? 1 : 0;
            version.ifPresent(
                    it -> assertThat(it).as("of %s", text).matches(SEMVER).hasSizeLessThanOrEqualTo(64));
        }
        assertThat(versions).isBetween(2_000, 18_000);
    }
}
