// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.settings.DriverAdapters;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PublishingIT {

    @Test
    void poolsThatMeetAConditionForAMomentDidMeetIt() throws Exception {
        Settings settings =
                SettingsReader.parse("driver: {name: gpu.example.com, process: {command: [x]}}", "the test", Map.of());
        AtomicInteger looks = new AtomicInteger();

        try (TestContext context = TestContext.open(settings, DriverAdapters.of(settings.driver()), "pools")) {
            assertThat(new Publishing(context).await(seen -> looks.getAndIncrement() == 0, Duration.ZERO))
                    .isPresent();
        }
    }
}
