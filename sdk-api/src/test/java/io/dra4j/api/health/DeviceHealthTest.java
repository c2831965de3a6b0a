// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceHealthTest {

    @Test
    void isBelievedForSomeTime() {
        assertThat(health(Duration.ofNanos(1)).validFor()).isEqualTo(Duration.ofNanos(1));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1})
    void isNotBelievedForNoTime(long nanos) {
        assertThatThrownBy(() -> health(Duration.ofNanos(nanos)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("node-a/gpu-0");
    }

    private static DeviceHealth health(Duration validFor) {
        return new DeviceHealth(new PoolName("node-a"), new DeviceName("gpu-0"), HealthState.HEALTHY, "", validFor);
    }
}
