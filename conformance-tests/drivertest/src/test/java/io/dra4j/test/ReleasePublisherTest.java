// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;

class ReleasePublisherTest {

    private static final Pool SHARED = Pool.ofNode(
            "node-a",
            List.of(
                    Device.builder("fpga-0").build(),
                    Device.builder("fpga-1").allowMultipleAllocations(true).build()));

    private static @Nullable Throwable failure(String test, Map<String, Pool> pools) {
        DynamicTest one = ReleasePublisher.tests(Boards.DRIVER, pools)
                .filter(each -> each.getDisplayName().equals(test))
                .findFirst()
                .orElseThrow();
        return catchThrowable(one.getExecutable()::execute);
    }

    @Test
    void mayLackDevicesOnlyForWantOfAGate() {
        Map<String, Pool> pools = Map.of("--shared", SHARED);

        assertThat(failure("V1_34 with all gates", pools)).isNull();
        assertThat(failure("V1_34 with its default gates", pools)).isNull();
    }

    @Test
    void needsADeviceInEachPool() {
        Map<String, Pool> pools = Map.of("--none", Pool.ofNode("node-a", List.of()));

        assertThat(failure("V1_36 with its default gates", pools))
                .isInstanceOf(AssertionError.class)
                .hasMessage("V1_36 with its default gates: --none has no devices");
    }
}
