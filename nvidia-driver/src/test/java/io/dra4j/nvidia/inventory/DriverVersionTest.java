// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DriverVersionTest {

    @ParameterizedTest
    @CsvSource({
        "550.163.01, 550.163.1",
        "535.288.00, 535.288.0",
        "580.95, 580.95.0",
        "580.95.05, 580.95.5",
        "470.256.02, 470.256.2",
        "999999999.0.010, 999999999.0.10"
    })
    void becomesThreeNumbersWithoutLeadingZeros(String text, String semver) {
        assertThat(DriverVersion.semver(text)).contains(semver);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "550", "550.", "550.163.01.2", "550.163-beta", "v550.163", " 550.1"})
    void isNoneInAnyOtherForm(String text) {
        assertThat(DriverVersion.semver(text)).isEmpty();
    }
}
