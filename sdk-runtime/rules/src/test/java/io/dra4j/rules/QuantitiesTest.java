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

    /** Also for an object that did not go through a server, which would have rounded it. */
    @ParameterizedTest
    @CsvSource({"0.1n, 1n", "1.1n, 2n", "1e-99, 1e-9", "-0.1n, -1n", "0.0001u, 1n"})
    void countEachPartOfABillionthAsOne(String quantity, String rounded) {
        assertThat(Quantities.exact(quantity)).isEqualByComparingTo(Quantities.exact(rounded));
        assertThat(Quantities.canonical(quantity)).isEqualTo(rounded);
    }
}
