// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import static io.dra4j.runtime.publishing.PublishingDriver.NODE;
import static io.dra4j.runtime.publishing.PublishingDriver.SLICES;
import static io.dra4j.runtime.publishing.PublishingDriver.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.DraException;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.runtime.DraDriver;
import io.dra4j.runtime.DriverListener;
import io.dra4j.runtime.LegacyPlugin;
import io.dra4j.runtime.takeover.HandOver;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Requests;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Events of a driver that is embedded in this process, to its host and the cluster's admins. */
class DriverEventsIT {

    /** Kubernetes before 1.34. */
    private static final Fault NO_DRA =
            Fault.status(404, "NotFound").on(request -> request.path().startsWith("/apis/resource.k8s.io/v1"));

    private static EmbeddedApiServer server() {
        return EmbeddedApiServer.builder()
                .node(NODE)
                .featureGate(FeatureGate.DRA_DEVICE_TAINTS, true)
                .start();
    }

    private static final Pool POOL =
            Pool.ofNode(NODE, List.of(Device.builder("gpu-0").build()));

    @Test
    void anUnhealthyDeviceIsTaintedIfTheHostWantsThat() throws Exception {
        try (EmbeddedApiServer api = server();
                PublishingDriver driver = PublishingDriver.start(
                        api, builder -> builder.taintUnhealthy(Taint.Effect.NO_SCHEDULE), POOL)) {
            assertThat(driver.awaitPublished()).isTrue();

            driver.report(
                    new DeviceHealth(new PoolName(NODE), new DeviceName("gpu-0"), HealthState.UNHEALTHY, "", TIMEOUT));

            JsonNode slice = api.store()
                    .awaitObject(SLICES, each -> each.at("/spec/devices/0").has("taints"), TIMEOUT);
            JsonNode taint = slice.at("/spec/devices/0/taints/0");
            assertThat(taint.path("key").asText()).isEqualTo("gpu.example.com/unhealthy");
            assertThat(taint.path("effect").asText()).isEqualTo("NoSchedule");
        }
    }

    private static void offer(EmbeddedApiServer api, int amount) {
        ManifestObjects.putText("""
                apiVersion: v1
                kind: Node
                metadata: {name: %s}
                status: {allocatable: {gpu.example.com/card: "%d", example.com/nic: "2"}}
                """.formatted(NODE, amount), api.store());
    }

    @Test
    void devicesAreWithheldUntilADevicePluginForThemIsGone() throws Exception {
        try (EmbeddedApiServer api = server()) {
            offer(api, 4);
            try (PublishingDriver driver = PublishingDriver.start(
                    api,
                    builder -> builder.legacyPlugin(LegacyPlugin.WITHHOLD).listener(new DriverListener() {}),
                    POOL)) {
                assertThat(driver.awaitPublished()).isTrue();
                assertThat(driver.about("gpu-0")).isEmpty();
                assertThat(driver.awaitProblem("No device is published until the plugin is gone."))
                        .startsWith("A device plugin also offers gpu.example.com/card=4 on this node")
                        .doesNotContain("example.com/nic");

                offer(api, 0);

                api.store()
                        .awaitObject(SLICES, slice -> slice.at("/spec/devices").size() == 1, TIMEOUT);
                assertEvent(api, "PublishingRecovered", "Normal", "No device plugin offers the devices");
            }
            try (PublishingDriver again =
                    PublishingDriver.start(api, builder -> builder.legacyPlugin(LegacyPlugin.WITHHOLD), POOL)) {
                assertThat(again.awaitPublished()).isTrue();
                assertThat(again.proxy.requests(Requests.writes(SLICES))).isEmpty();
            }
        }
    }

    private static void assertEvent(EmbeddedApiServer api, String reason, String type, String message) {
        JsonNode event = api.store()
                .awaitObject(
                        "events",
                        it -> it.path("reason").asText().equals(reason)
                                && it.path("message").asText().contains(message),
                        TIMEOUT);
        assertThat(event.path("type").asText()).isEqualTo(type);
        assertThat(event.at("/source/component").asText()).isEqualTo(PublishingDriver.DRIVER);
        assertThat(event.at("/involvedObject/kind").asText()).isEqualTo("Node");
        assertThat(event.at("/involvedObject/name").asText()).isEqualTo(NODE);
    }

    @Test
    void slicesStayWhenTheDriverClosesUnlessItWasBuiltToRemoveThem() throws Exception {
        try (EmbeddedApiServer api = server()) {
            try (PublishingDriver driver = PublishingDriver.start(api, POOL)) {
                assertThat(driver.awaitPublished()).isTrue();
            }
            assertThat(api.store().list(SLICES)).hasSize(1);

            try (PublishingDriver driver = PublishingDriver.start(api, DraDriver.Builder::removeSlicesOnClose, POOL)) {
                assertThat(driver.awaitPublished()).isTrue();
            }
            assertThat(api.store().list(SLICES)).isEmpty();
        }
    }

    @Test
    void aSecondDriverOfItsNameAndSocketsIsRefusedAndTakesNothingWithIt() throws Exception {
        try (EmbeddedApiServer api = server();
                PublishingDriver driver = PublishingDriver.start(api, POOL)) {
            DraDriver second = driver.builder.build();

            assertThatThrownBy(second::start)
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("The driver gpu.example.com is already running, with no pod's UID")
                    .hasMessageContaining(driver.place.plugins() + "/gpu.example.com: it is this process itself")
                    .hasMessageContaining("(podUid)");
            second.close();

            assertThat(driver.checks()).as("those of the first one").hasSize(1);
            assertThat(driver.place.registry()).isDirectoryContaining("glob:**/gpu.example.com-reg.sock");
            driver.driver.close();
            Path data = driver.place.plugins().resolve(PublishingDriver.DRIVER);
            HandOver handOver = HandOver.begin("gpu.example.com", NODE, data, driver.place.cdi(), Path.of("/proc"));
            assertThatThrownBy(driver.builder.build()::start).hasMessageContaining("are being handed over");
            handOver.close();
            try (DraDriver next = driver.builder.build()) {
                next.start();
            }
        }
    }

    @Test
    void aServerOlderThan134EndsTheStart() throws Exception {
        try (EmbeddedApiServer api = server();
                PublishingDriver driver = new PublishingDriver(api, builder -> builder, List.of(POOL))) {
            driver.proxy.inject(NO_DRA);

            assertThatThrownBy(driver::start)
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining(KubernetesVersion.V1_36.gitVersion())
                    .hasMessageContaining("Kubernetes 1.34 or newer");
            assertThat(driver.place.registry()).isEmptyDirectory();
        }
    }
}
