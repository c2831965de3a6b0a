// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantityTest {

    @Nested
    class Parsing {

        @ParameterizedTest
        @CsvSource({
            "80Gi, 85899345920",
            "1Ki, 1024",
            "2Ti, 2199023255552",
            "1Ei, 1152921504606846976",
            "100, 100",
            "1500m, 1.5",
            "1u, 0.000001",
            "1n, 0.000000001",
            "2e3, 2000",
            "2E3, 2000",
            "5E-1, 0.5",
            "3E, 3000000000000000000",
            ".5, 0.5",
            "5., 5",
            "-1k, -1000",
            "+1.25M, 1250000"
        })
        void readsTheNotationOfKubernetes(String text, BigDecimal amount) {
            assertThat(new Quantity(text).amount()).isEqualByComparingTo(amount);
        }

        @ParameterizedTest
        @ValueSource(strings = {"", " 1", "1 Gi", "1gi", "1KiB", "Gi", ".", "1e", "0x1", "1e100", "ten"})
        void refusesAnythingElseAndSaysWhat(String text) {
            assertThatThrownBy(() -> new Quantity(text))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("\"" + text + "\"");
        }
    }

    @Nested
    class Equality {

        @ParameterizedTest
        @CsvSource({"1Gi, 1024Mi", "1, 1000m", "1k, 1e3", "0, 0Gi", "2.50, 2.5"})
        void holdsForEqualAmountsHoweverWritten(String one, String other) {
            Quantity left = new Quantity(one);
            Quantity right = new Quantity(other);

            assertThat(left).isEqualTo(right).hasSameHashCodeAs(right);
            assertThat(left.compareTo(right)).isZero();
        }

        @ParameterizedTest
        @CsvSource({"1G, 1Gi", "1m, 1M", "-1, 1"})
        void orderIsByAmount(String smaller, String larger) {
            assertThat(new Quantity(smaller)).isLessThan(new Quantity(larger)).isNotEqualTo(new Quantity(larger));
        }

        @Test
        void theTextStaysAsWritten() {
            assertThat(new Quantity("1024Mi")).hasToString("1024Mi");
        }
    }

    @Nested
    class Bytes {

        @ParameterizedTest
        @CsvSource({
            "0, 0",
            "1, 1",
            "1023, 1023",
            "1024, 1Ki",
            "1536, 1536",
            "85899345920, 80Gi",
            "1152921504606846976, 1Ei",
            "9223372036854775807, 9223372036854775807"
        })
        void areWrittenInTheLargestUnitThatKeepsThemExact(long bytes, String text) {
            assertThat(Quantity.ofBytes(bytes)).hasToString(text);
            assertThat(Quantity.ofBytes(bytes)).isEqualTo(Quantity.of(bytes));
        }
    }
}
