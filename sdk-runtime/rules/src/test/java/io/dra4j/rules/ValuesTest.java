// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

/** Values that may be written in more than one form: quantities and addresses of network devices. */
class ValuesTest {

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

    @ParameterizedTest
    @CsvFileSource(files = "src/test/resources/io/dra4j/rules/an-address-in-its-one-form.csv", quoteCharacter = '\'')
    void anAddressInItsOneFormIsAccepted(String address) {
        assertThat(Addresses.problem(address)).isEmpty();
        assertThat(Addresses.canonical(address)).contains(address);
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/rules/another-form-is-read-and-refused.csv",
            quoteCharacter = '\'')
    void anotherFormIsReadAndRefused(String address, String canonical) {
        assertThat(Addresses.canonical(address)).contains(canonical);
        assertThat(Addresses.problem(address)).isEqualTo("must be in canonical form (\"" + canonical + "\")");
    }

    @ParameterizedTest
    @CsvSource({
        "10.1.2.3/24, 10.1.2.3/24",
        "0.0.0.0/0, 0.0.0.0/0",
        "2001:DB8:0:00:000:0000:0:01/64, 2001:db8::1/64",
        "1::2:3:4:5:6:7/8, 1:0:2:3:4:5:6:7/8",
        "::ffff:10.1.2.3/120, 10.1.2.3/24",
        "::FFFF:a01:203/96, 10.1.2.3/0",
        "64:ff9b::10.1.2.3/96, 64:ff9b::a01:203/96",
    })
    void aFormThatAllReadersTakeForTheSameIsUnambiguous(String address, String canonical) {
        assertThat(Addresses.unambiguous(address)).contains(canonical);
        assertThat(Addresses.problem(canonical)).isEmpty();
    }

    @ParameterizedTest
    @CsvFileSource(files = "src/test/resources/io/dra4j/rules/another-form-is-ambiguous.csv", quoteCharacter = '\'')
    void anotherFormIsAmbiguous(String address) {
        assertThat(Addresses.unambiguous(address)).isEmpty();
        assertThat(Addresses.problem(address)).isNotEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "10.1.2.3, 10.1.2.3",
        "2001:DB8::0001, 2001:db8::1",
        "::1.2.3.4, ::102:304",
        "::, ::",
    })
    void anAddressAloneIsReadStrictlyAndWritten(String address, String canonical) {
        assertThat(Addresses.strict(address).map(Addresses::text)).contains(canonical);
    }

    @ParameterizedTest
    @CsvFileSource(files = "src/test/resources/io/dra4j/rules/other-addresses-alone.csv", quoteCharacter = '\'')
    void otherAddressesAloneAreNotRead(String address) {
        assertThat(Addresses.strict(address)).isEmpty();
    }

    @ParameterizedTest
    @CsvFileSource(files = "src/test/resources/io/dra4j/rules/no-address-with-a-prefix.csv", quoteCharacter = '\'')
    void whatIsNoAddressWithAPrefixIsRefused(String address) {
        assertThat(Addresses.canonical(address)).isEmpty();
        assertThat(Addresses.problem(address))
                .isEqualTo("must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
    }
}
