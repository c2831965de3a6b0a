// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import static io.dra4j.runtime.publishing.PublishingDriver.NODE;
import static io.dra4j.runtime.publishing.PublishingDriver.SLICES;
import static io.dra4j.runtime.publishing.PublishingDriver.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import io.dra4j.runtime.LegacyPlugin;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A driver beside a device plugin that offers the same devices. */
class LegacyPluginIT {

    private static final Pool POOL =
            Pool.ofNode(NODE, List.of(Device.builder("gpu-0").build()));

    private static void offer(EmbeddedApiServer api, int amount) {
        ManifestObjects.putText("""
                apiVersion: v1
                kind: Node
                metadata: {name: %s}
                status: {allocatable: {gpu.example.com/card: "%d", example.com/nic: "2"}}
                """.formatted(NODE, amount), api.store());
    }

    private static JsonNode event(EmbeddedApiServer api, String reason) {
        return api.store().awaitObject("events", e -> e.path("reason").asText().equals(reason), TIMEOUT);
    }

    private static void awaitDevices(EmbeddedApiServer api, int number) {
        api.store().awaitObject(SLICES, slice -> slice.at("/spec/devices").size() == number, TIMEOUT);
    }

    private static PublishingDriver start(EmbeddedApiServer api, LegacyPlugin choice) throws Exception {
        return PublishingDriver.start(api, builder -> builder.legacyPlugin(choice), POOL);
    }

    @Test
    void devicesAreWithheldUntilThePluginIsGone() throws Exception {
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().start()) {
            offer(api, 4);
            try (PublishingDriver driver = start(api, LegacyPlugin.WITHHOLD)) {
                assertThat(driver.awaitPublished()).isTrue();
                assertThat(driver.about("gpu-0")).isEmpty();
                assertThat(event(api, "LegacyDevicePlugin").path("message").asText())
                        .startsWith("A device plugin offers gpu.example.com/card=4 on this node")
                        .contains("No device is published until the plugin is gone.")
                        .doesNotContain("example.com/nic");

                offer(api, 0);

                awaitDevices(api, 1);
                event(api, "PublishingRecovered");
            }
        }
    }

    @Test
    void aRestartWithoutAPluginWritesNothing() throws Exception {
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().start()) {
            offer(api, 0);
            try (PublishingDriver driver = start(api, LegacyPlugin.WITHHOLD)) {
                assertThat(driver.awaitPublished()).isTrue();
                awaitDevices(api, 1);
            }
            String version = version(api);
            try (PublishingDriver driver = start(api, LegacyPlugin.WITHHOLD)) {
                assertThat(driver.awaitPublished()).isTrue();
                assertThat(version(api)).isEqualTo(version);
            }
        }
    }

    private static String version(EmbeddedApiServer api) {
        return api.store().list(SLICES).get(0).at("/metadata/resourceVersion").asText();
    }
}
