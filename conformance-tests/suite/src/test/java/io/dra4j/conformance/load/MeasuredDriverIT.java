// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MeasuredDriverIT {

    @Test
    void oneThatEndsIsNotWaitedFor() {
        Settings settings =
                SettingsReader.parse("driver: {name: gpu.example.com, process: {command: [x]}}", "the test", Map.of());

        try (MeasuredDriver ended = MeasuredDriver.open(settings, remark -> {})) {
            assertThatThrownBy(ended::wipe).hasMessageStartingWith("the driver ended when its slices were deleted");
        }
    }
}
