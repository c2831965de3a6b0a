// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The values of quantities. */
class QuantitiesTest {

    @ParameterizedTest
    @CsvSource({"1Ki, 1024", "1.5k, 1500", "1500m, 1.5", "1n, 0.000000001", "-2n, -0.000000002"})
    void areWhatIsWritten(String quantity, BigDecimal value) {
        assertThat(Quantities.exact(quantity)).isEqualByComparingTo(value);
    }

    @ParameterizedTest
    @CsvSource({"1.5, 2, 2", "-0.5, -1, -1", "9223372036854775808, -9223372036854775808, 9223372036854775807"})
    void areRoundedAndLimitedByTheRelease(String quantity, long before, long from138) {
        BigDecimal exact = Quantities.exact(quantity);

        assertThat(Quantities.value(exact, KubernetesVersion.V1_37)).isEqualTo(before);
        assertThat(Quantities.value(exact, KubernetesVersion.V1_38)).isEqualTo(from138);
    }

    @ParameterizedTest
    @CsvSource({
        "1000E, 1, 1e21",
        "-1500000E, -1500, -1500e21",
        "1500E, 1500E, 1500E",
        "16Ei, 9223372036854775807, 9223372036854775807"
    })
    void keepTheirZerosFrom138On(String quantity, String before, String from138) {
        assertThat(Quantities.canonical(quantity, KubernetesVersion.V1_37)).isEqualTo(before);
        assertThat(Quantities.canonical(quantity, KubernetesVersion.V1_38)).isEqualTo(from138);
    }

    /** Tests an object that did not pass through a server, which would have rounded it. */
    @ParameterizedTest
    @CsvSource({"0.1n, 1n", "1.1n, 2n", "1e-99, 1e-9", "-0.1n, -1n", "0.0001u, 1n"})
    void countEachPartOfABillionthAsOne(String quantity, String rounded) {
        assertThat(Quantities.exact(quantity)).isEqualByComparingTo(Quantities.exact(rounded));
        assertThat(Quantities.canonical(quantity)).isEqualTo(rounded);
    }
}
