// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.Progress;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import io.dra4j.api.error.DraException;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.DraDriver;
import io.dra4j.runtime.DriverListener;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.model.FeatureGate;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events of a driver that is embedded in this process, to its host and the cluster's admins. */
class DriverEventsIT {

    private static final String NODE = "node-1";
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir Path root;

    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    private final Switchable provider = new Switchable();

    private DraDriver.Builder driver(Path kubeconfig) throws IOException {
        Path plugins = Files.createDirectories(root.resolve("plugins"));
        Path registry = Files.createDirectories(root.resolve("registry"));
        return DraDriver.builder("gpu.example.com", NODE, provider)
                .kubeconfig(kubeconfig)
                .cdiRoot(root.resolve("cdi"))
                .kubeletPluginsDirectory(plugins)
                .kubeletRegistrarDirectory(registry)
                .listener(
                        new DriverListener() {
                            @Override
                            public void recoverable(DraException problem) {
                                heard.add("recoverable: " + problem.getMessage());
                            }

                            @Override
                            public void fatal(DraException problem) {
                                heard.add("fatal: " + problem.getMessage());
                            }
                        });
    }

    private static JsonNode event(EmbeddedApiServer api, String reason) {
        return api.store()
                .awaitObject("events", e -> e.path("reason").asText().equals(reason), PATIENCE);
    }

    @Test
    void anInvalidPoolIsToldToTheHostAndOnTheNodeAndSoIsItsEnd() throws Exception {
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().node(NODE).start();
                DraDriver driver = driver(api.writeKubeconfig(root.resolve("config"))).build()) {
            driver.start();
            assertThat(driver.awaitPublished(PATIENCE)).isTrue();

            provider.offer(Device.builder("gpu-0").attribute("model", "x".repeat(65)).build());

            assertThat(heard.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .startsWith("recoverable: Pool node-1 is not published")
                    .contains("device gpu-0", "attributes[model]", "64 bytes", "xxx");
            JsonNode event = event(api, "InvalidPool");
            assertThat(event.at("/involvedObject/kind").asText()).isEqualTo("Node");
            assertThat(event.at("/involvedObject/name").asText()).isEqualTo(NODE);
            assertThat(event.path("type").asText()).isEqualTo("Warning");
            assertThat(event.at("/source/component").asText()).isEqualTo("gpu.example.com");
            assertThat(driver.awaitPublished(Duration.ZERO)).isFalse();

            provider.offer(Device.builder("gpu-0").attribute("model", "x").build());

            assertThat(driver.awaitPublished(PATIENCE)).isTrue();
            assertThat(event(api, "PublishingRecovered").path("type").asText()).isEqualTo("Normal");
        }
    }

    @Test
    void anUnhealthyDeviceIsTaintedIfTheHostWantsThat() throws Exception {
        provider.reportsHealth = true;
        try (EmbeddedApiServer api =
                        EmbeddedApiServer.builder()
                                .node(NODE)
                                .featureGate(FeatureGate.DRA_DEVICE_TAINTS, true)
                                .start();
                DraDriver driver =
                        driver(api.writeKubeconfig(root.resolve("config")))
                                .taintUnhealthy(Taint.Effect.NO_SCHEDULE)
                                .build()) {
            driver.start();
            assertThat(driver.awaitPublished(PATIENCE)).isTrue();

            provider.report(HealthState.UNHEALTHY);

            JsonNode slice =
                    api.store()
                            .awaitObject(
                                    "resourceslices",
                                    each -> each.at("/spec/devices/0").has("taints"),
                                    PATIENCE);
            JsonNode taint = slice.at("/spec/devices/0/taints/0");
            assertThat(taint.path("key").asText()).isEqualTo("gpu.example.com/unhealthy");
            assertThat(taint.path("effect").asText()).isEqualTo("NoSchedule");
        }
    }

    @Test
    void slicesStayWhenTheDriverClosesUnlessItWasBuiltToRemoveThem() throws Exception {
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().node(NODE).start()) {
            Path kubeconfig = api.writeKubeconfig(root.resolve("config"));
            try (DraDriver driver = driver(kubeconfig).build()) {
                driver.start();
                assertThat(driver.awaitPublished(PATIENCE)).isTrue();
            }
            assertThat(api.store().list("resourceslices")).hasSize(1);

            try (DraDriver driver = driver(kubeconfig).removeSlicesOnClose().build()) {
                driver.start();
                assertThat(driver.awaitPublished(PATIENCE)).isTrue();
            }
            assertThat(api.store().list("resourceslices")).isEmpty();
        }
    }

    @Test
    void aServerOlderThan134EndsTheStart() throws Exception {
        HttpServer old = server();
        try (DraDriver driver = driver(kubeconfig(old)).build()) {
            assertThatThrownBy(driver::start)
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("v1.33.2")
                    .hasMessageContaining("Kubernetes 1.34 or newer");
            assertThat(root.resolve("registry")).isEmptyDirectory();
        } finally {
            old.stop(0);
        }
    }

    @Test
    void aServerThatTurnsOutTooOldLaterIsFatal() throws Exception {
        int port;
        HttpServer first = server();
        port = first.getAddress().getPort();
        Path kubeconfig = kubeconfig(first);
        first.stop(0);
        try (DraDriver driver = driver(kubeconfig).build()) {
            driver.start();
            HttpServer old = server(port);

            String told;
            do {
                told = heard.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertThat(told).isNotNull();
            } while (told.startsWith("recoverable"));

            assertThat(told).startsWith("fatal: ").contains("Kubernetes 1.34 or newer");
            old.stop(0);
        }
    }

    private static HttpServer server() throws IOException {
        return server(0);
    }

    /** Knows the node and its own version, and no DRA. */
    private static HttpServer server(int port) throws IOException {
        HttpServer server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        answer(server, "/", 404, "{}");
        answer(server, "/version", 200, "{\"gitVersion\":\"v1.33.2\"}");
        answer(server, "/api/v1/nodes/" + NODE, 200, "{\"metadata\":{\"uid\":\"u1\"}}");
        server.start();
        return server;
    }

    private static void answer(HttpServer server, String path, int status, String body) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        server.createContext(
                path,
                exchange -> {
                    exchange.sendResponseHeaders(status, bytes.length);
                    exchange.getResponseBody().write(bytes);
                    exchange.close();
                });
    }

    private Path kubeconfig(HttpServer server) throws IOException {
        return Files.writeString(
                root.resolve("old-config"),
                """
                apiVersion: v1
                kind: Config
                clusters: [{name: c, cluster: {server: "http://127.0.0.1:%d"}}]
                users: [{name: u, user: {token: t}}]
                contexts: [{name: x, context: {cluster: c, user: u}}]
                current-context: x
                """
                        .formatted(server.getAddress().getPort()));
    }

    /** Offers what the test says. */
    private static final class Switchable implements DeviceProvider {
        private volatile List<Device> devices = List.of(Device.builder("gpu-0").build());
        private volatile DriverContext context;
        private boolean reportsHealth;

        @Override
        public void start(DriverContext started) {
            context = started;
        }

        void offer(Device... offered) {
            devices = List.of(offered);
            context.inventoryChanged();
        }

        @Override
        public boolean reportsHealth() {
            return reportsHealth;
        }

        void report(HealthState state) {
            context.reportHealth(
                    List.of(
                            new DeviceHealth(
                                    new PoolName(NODE),
                                    new DeviceName("gpu-0"),
                                    state,
                                    "",
                                    PATIENCE)));
        }

        @Override
        public Inventory inventory() {
            return Inventory.of(Pool.ofNode(NODE, devices));
        }

        @Override
        public PreparedClaim prepare(AllocatedClaim claim, Progress progress) {
            throw new UnsupportedOperationException("no claims here");
        }

        @Override
        public void unprepare(HeldClaim claim, Progress progress) {}
    }
}
