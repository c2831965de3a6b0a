// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
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
    @CsvSource({
        "010.1.2.3/24, 10.1.2.3/24",
        "08.0000.2.3/08, 8.0.2.3/8",
        "10.1.2.3/0000000024, 10.1.2.3/24",
        "2001:DB8::1/64, 2001:db8::1/64",
        "2001:db8:0::1/64, 2001:db8::1/64",
        "2001:db8:0:0:0:0:0:1/64, 2001:db8::1/64",
        "02001:00000db8::1/64, 2001:db8::1/64",
        "1::2:3:4:5:6:7/8, 1:0:2:3:4:5:6:7/8",
        "1:0:0:0:2:0:0:3/8, 1::2:0:0:3/8",
        "::ffff:10.1.2.3/120, 10.1.2.3/24",
        "::FFFF:a01:203/128, 10.1.2.3/32",
        "0:0:0:0:0:ffff:10.1.2.3/24, 10.1.2.3/24",
        "64:ff9b::10.1.2.3/96, 64:ff9b::a01:203/96",
        "::10.1.2.3/96, ::a01:203/96",
    })
    void anotherFormIsReadAndRefused(String address, String canonical) {
        assertThat(Addresses.canonical(address)).contains(canonical);
        assertThat(Addresses.problem(address))
                .isEqualTo("must be in canonical form (\"" + canonical + "\")");
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
                .isEqualTo(
                        "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
    }
}
