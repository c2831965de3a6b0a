// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceReadingsTest {

    @ParameterizedTest
    @ValueSource(doubles = {-1, Double.NaN, Double.POSITIVE_INFINITY})
    void haveNumbersAlone(double value) {
        assertThatThrownBy(() -> DeviceReadings.builder().value(DeviceMeasure.POWER, value))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("POWER can't be " + value + "; leave out what can't be measured");
        assertThatThrownBy(() -> DeviceReadings.builder().parentValue(DeviceMeasure.POWER, value))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void mayBeOfACoolDevice() {
        assertThat(DeviceReadings.builder()
                        .value(DeviceMeasure.TEMPERATURE, -8)
                        .build()
                        .values())
                .containsEntry(DeviceMeasure.TEMPERATURE, -8.0);
    }

    @Test
    void keepTheDevicesValuesApartFromItsParents() {
        DeviceReadings readings = DeviceReadings.builder()
                .value(DeviceMeasure.MEMORY_USED, 1)
                .parentValue(DeviceMeasure.POWER, 2)
                .build();

        assertThat(readings.values()).containsOnlyKeys(DeviceMeasure.MEMORY_USED);
        assertThat(readings.parentValues()).containsOnlyKeys(DeviceMeasure.POWER);
    }
}
