// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses of network devices. */
class AddressesTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.9.8.7/24",
                "0.0.0.0/0",
                "255.255.255.255/32",
                "2001:db8::1/64",
                "::/0",
                "::1/128",
                "1::/16",
                "1:0:2:3:4:5:6:7/8",
                "1:0:0:2::3/8",
                "1::2:0:0:3:4/8",
                "2001:db8:1:2:3:4:5:6/128",
                "64:ff9b::a01:203/96",
            })
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
    @ValueSource(
            strings = {
                "010.1.2.3/24",
                "10.1.2.03/24",
                "10.1.2.3/024",
                "2001:db8::1/064",
                "::ffff:010.1.2.3/120",
                "::ffff:10.1.02.3/120",
                "02001:db8::1/64",
                "::ffff:10.1.2.3/95",
                "::ffff:10.1.2.3/24",
                "10.1.2.3",
                "x",
            })
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
    @ValueSource(
            strings = {
                "010.1.2.3",
                "::01.2.3.4",
                "00001::1",
                "::ffff:1.2.3.4",
                "::ffff:102:304",
                "10.1.2.3/24",
                "fe80::1%eth0",
                "localhost",
            })
    void otherAddressesAloneAreNotRead(String address) {
        assertThat(Addresses.strict(address)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "x",
                "10.1.2.3",
                "10.1.2.3/",
                "10.1.2.3/33",
                "10.1.2.3/-1",
                "10.1.2.3/+1",
                "10.1.2.3/99999999999",
                "10.1.2.3/24/24",
                "10.1.2.3 /24",
                "10.1.2/24",
                "10.1.2.3.4/24",
                "10.1..3/24",
                "10.1.2.256/24",
                "10.1.2.0x3/24",
                "1:2:3:4:5:6:7/64",
                "1:2:3:4:5:6:7:8:9/64",
                "1:2:3:4:5:6:7::8/64",
                "1::2::3/64",
                ":1::2/64",
                "1:::2/64",
                "1::2:/64",
                "1:2:3:4:5:6:7:8:/64",
                "::10000/64",
                "::g/64",
                "::1/129",
                "fe80::1%eth0/64",
                "10.1.2.3::/64",
                "::10.1.2.3:1/64",
                "1:2:3:4:5:6:7:10.1.2.3/64",
            })
    void whatIsNoAddressWithAPrefixIsRefused(String address) {
        assertThat(Addresses.canonical(address)).isEmpty();
        assertThat(Addresses.problem(address))
                .isEqualTo("must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
    }
}
