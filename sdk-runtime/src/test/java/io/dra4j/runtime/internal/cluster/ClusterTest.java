// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Scope;
import io.dra4j.runtime.internal.cluster.SliceStore.Snapshot;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterTest {

    private static final ClaimRef REF = new ClaimRef("default", "c1", "uid-1");
    private static final String NODE = "{\"metadata\":{\"name\":\"node-a\",\"uid\":\"node-uid\"}}";
    private static final String CLAIM =
            """
            {"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim",
             "metadata":{"name":"c1","namespace":"default","uid":"uid-1"},
             "spec":{"devices":{"requests":[
               {"name":"one","exactly":{"deviceClassName":"gpu.example.com"}},
               {"name":"gpu","firstAvailable":[
                  {"name":"large","deviceClassName":"large.example.com"},
                  {"name":"small","deviceClassName":"small.example.com"}]}]}},
             "status":{"futureField":{"a":[1,2]},"allocation":{"devices":{
               "results":[
                 {"request":"one","driver":"gpu.example.com","pool":"node-a","device":"gpu-0",
                  "shareID":"7c0e3d54-0000-4000-8000-000000000000",
                  "consumedCapacity":{"memory":"10Gi"}},
                 {"request":"gpu/large","driver":"other.example.com","pool":"p","device":"d",
                  "adminAccess":true}],
               "config":[
                 {"source":"FromClass","opaque":{"driver":"gpu.example.com","parameters":{"k":1}}},
                 {"source":"FromClaim","requests":["gpu/large"],
                  "opaque":{"driver":"other.example.com","parameters":{}}},
                 {"source":"FromClaim","unheardOf":{}}]}}}}
            """;

    @TempDir Path directory;

    private ScriptedServer server;
    private Cluster cluster;

    @BeforeEach
    void connect() throws Exception {
        server = new ScriptedServer();
        cluster = Cluster.connect(server.kubeconfig(directory), "gpu.example.com", "node-a");
    }

    @AfterEach
    void close() {
        cluster.close();
        server.close();
    }

    private static Instant in(Duration time) {
        return Instant.now().plus(time);
    }

    @Nested
    class ReadingAClaim {

        @Test
        void allThatIsAllocatedIsReadAndUnknownFieldsStay() throws Exception {
            server.then(200, CLAIM);

            ClaimObject claim = cluster.claim(REF, in(Duration.ofSeconds(10)));

            assertThat(claim.uid()).isEqualTo("uid-1");
            assertThat(claim.json()).contains("futureField");
            assertThat(claim.deviceClasses())
                    .containsOnly(
                            Map.entry("one", "gpu.example.com"),
                            Map.entry("gpu/large", "large.example.com"),
                            Map.entry("gpu/small", "small.example.com"));
            assertThat(claim.allocation().results())
                    .containsExactly(
                            new ClaimObject.Result(
                                    "gpu.example.com",
                                    "one",
                                    "node-a",
                                    "gpu-0",
                                    "7c0e3d54-0000-4000-8000-000000000000",
                                    Map.of("memory", new Quantity("10Gi")),
                                    false),
                            new ClaimObject.Result(
                                    "other.example.com",
                                    "gpu/large",
                                    "p",
                                    "d",
                                    null,
                                    Map.of(),
                                    true));
            assertThat(claim.allocation().configs())
                    .containsExactly(
                            new ClaimObject.Config(true, List.of(), "gpu.example.com", "{\"k\":1}"),
                            new ClaimObject.Config(
                                    false, List.of("gpu/large"), "other.example.com", "{}"));
            ScriptedServer.Request request = server.requests.take();
            assertThat(request.path())
                    .isEqualTo("/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c1");
            assertThat(request.userAgent()).startsWith("dra4j/").endsWith(" (gpu.example.com)");
        }

        @Test
        void aClaimThatIsNotAllocatedHasNoAllocation() {
            server.then(200, "{\"metadata\":{\"uid\":\"u\"},\"status\":{}}");

            assertThat(cluster.claim(REF, in(Duration.ofSeconds(10))).allocation()).isNull();
        }

        @Test
        void aMissingClaimIsNotFoundAtOnce() {
            server.then(
                    404,
                    "{\"kind\":\"Status\",\"message\":\"resourceclaims \\\"c1\\\" not found\"}");

            assertThatThrownBy(() -> cluster.claim(REF, in(Duration.ofSeconds(30))))
                    .isInstanceOf(ClusterException.NotFound.class)
                    .hasMessageContaining("\"c1\" not found");
            assertThat(server.requests).hasSize(1);
        }

        @Test
        void aServerErrorIsWaitedFor() {
            server.then(500, "oops").then(503, "{\"message\":\"starting\"}").then(200, CLAIM);

            assertThat(cluster.claim(REF, in(Duration.ofSeconds(20))).uid()).isEqualTo("uid-1");
            assertThat(server.requests).hasSize(3);
        }

        @Test
        void aRefusalIsNotRepeated() {
            server.then(403, "{\"message\":\"not allowed\"}").then(200, CLAIM);

            ClusterException failure =
                    catchThrowableOfType(
                            ClusterException.class,
                            () -> cluster.claim(REF, in(Duration.ofSeconds(20))));

            assertThat(failure).hasMessageContaining("403").hasMessageContaining("not allowed");
            assertThat(failure.isTransient()).isFalse();
            assertThat(server.requests).hasSize(1);
        }

        @Test
        void tooManyRequestsAreRepeatedAfterTheTimeAskedFor() {
            server.then(
                            exchange -> {
                                exchange.getResponseHeaders().add("Retry-After", "1");
                                ScriptedServer.send(exchange, 429, "");
                            })
                    .then(200, CLAIM);
            long begun = System.nanoTime();

            cluster.claim(REF, in(Duration.ofSeconds(20)));

            assertThat(Duration.ofNanos(System.nanoTime() - begun))
                    .isGreaterThanOrEqualTo(Duration.ofSeconds(1));
            assertThat(server.requests).hasSize(2);
        }

        @Test
        void aServerThatHangsIsGivenUpAtTheDeadline() {
            server.thenHang();
            long begun = System.nanoTime();

            ClusterException failure =
                    catchThrowableOfType(
                            ClusterException.class,
                            () -> cluster.claim(REF, in(Duration.ofMillis(500))));

            assertThat(failure.isTransient()).isTrue();
            assertThat(failure).hasMessageContaining("did not answer");
            assertThat(Duration.ofNanos(System.nanoTime() - begun))
                    .isLessThan(Duration.ofSeconds(5));
        }

        @Test
        void aServerThatIsGoneIsTransient() {
            server.close();

            ClusterException failure =
                    catchThrowableOfType(
                            ClusterException.class,
                            () -> cluster.claim(REF, in(Duration.ofMillis(300))));

            assertThat(failure.isTransient()).isTrue();
            assertThat(failure).hasMessageContaining("No answer from the API server");
        }
    }

    @Nested
    class Slices {

        private final Content content =
                new Content(
                        new PoolName("node-a"),
                        1,
                        1,
                        new Placement.ThisNode(),
                        List.of(Device.builder("gpu-0").attribute("index", 0).build()),
                        List.of());

        private String slice(String version, String owner) {
            return """
            {"metadata":{"name":"00000-x","uid":"u1","resourceVersion":"%s",
              "ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"node-a","uid":"%s"}]},
             "spec":{"driver":"gpu.example.com","nodeName":"node-a",
              "pool":{"name":"node-a","generation":1,"resourceSliceCount":1},
              "devices":[{"name":"gpu-0","attributes":{"index":{"int":0}}}]}}"""
                    .formatted(version, owner);
        }

        @Test
        void listsThoseOfThisNodeAndKnowsItsOwn() throws Exception {
            server.then(200, NODE)
                    .then(
                            200,
                            "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":["
                                    + slice("5", "node-uid")
                                    + ","
                                    + slice("6", "old-uid")
                                    + "]}");

            Snapshot snapshot = cluster.slices().list(Scope.NODE);

            assertThat(snapshot.resourceVersion()).isEqualTo("7");
            assertThat(snapshot.slices())
                    .extracting(Stored::ownedByNode)
                    .containsExactly(true, false);
            assertThat(snapshot.slices().get(0).content()).isEqualTo(content);
            assertThat(server.requests.take().path()).isEqualTo("/api/v1/nodes/node-a");
            assertThat(server.requests.take().query())
                    .isEqualTo("fieldSelector=spec.driver=gpu.example.com,spec.nodeName=node-a");
        }

        @Test
        void createsWithAGeneratedNameOwnedByTheNode() throws Exception {
            server.then(200, NODE).then(201, slice("5", "node-uid"));

            Stored stored = cluster.slices().create(3, content);

            assertThat(stored.resourceVersion()).isEqualTo("5");
            server.requests.take();
            ScriptedServer.Request request = server.requests.take();
            assertThat(request.method()).isEqualTo("POST");
            assertThat(request.body())
                    .isEqualTo(
                            "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\","
                                    + "\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\","
                                    + "\"kind\":\"Node\",\"name\":\"node-a\",\"uid\":\"node-uid\","
                                    + "\"controller\":true}],"
                                    + "\"generateName\":\"00003-gpu.example.com-node-a-\"},"
                                    + "\"spec\":{\"driver\":\"gpu.example.com\",\"pool\":{"
                                    + "\"name\":\"node-a\",\"generation\":1,\"resourceSliceCount\":1},"
                                    + "\"nodeName\":\"node-a\",\"devices\":[{\"name\":\"gpu-0\","
                                    + "\"attributes\":{\"index\":{\"int\":0}}}]}}");
        }

        @Test
        void updatesAndDeletesOnlyWhatItKnows() throws Exception {
            Stored known = new Stored("00000-x", "u1", "5", true, content);
            server.then(200, NODE).then(200, slice("6", "node-uid")).then(409, "{}");

            assertThat(cluster.slices().update(known, content).resourceVersion()).isEqualTo("6");
            ClusterException failure =
                    catchThrowableOfType(
                            ClusterException.class, () -> cluster.slices().delete(known));

            assertThat(failure.isConflict()).isTrue();
            server.requests.take();
            assertThat(server.requests.take().body())
                    .contains("\"name\":\"00000-x\",\"uid\":\"u1\",\"resourceVersion\":\"5\"");
            assertThat(server.requests.take().body())
                    .contains("\"preconditions\":{\"uid\":\"u1\",\"resourceVersion\":\"5\"}");
        }

        @Test
        void aSliceThatIsGoneIsDeleted() {
            server.then(404, "{}");

            assertThatCode(
                            () ->
                                    cluster.slices()
                                            .delete(
                                                    new Stored(
                                                            "00000-x", "u1", "5", true, content)))
                    .doesNotThrowAnyException();
        }

        @Test
        void aWatchTellsWhatHappensAndWhenItEnds() throws Exception {
            server.then(200, NODE)
                    .thenStream(
                            "{\"type\":\"ADDED\",\"object\":" + typed(slice("5", "node-uid")) + "}",
                            "{\"type\":\"BOOKMARK\",\"object\":"
                                    + typed("{\"metadata\":{\"resourceVersion\":\"8\"}}")
                                    + "}",
                            "{\"type\":\"DELETED\",\"object\":"
                                    + typed(slice("9", "node-uid"))
                                    + "}",
                            "{\"type\":\"ERROR\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Status\","
                                    + "\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\"}}");
            Heard heard = new Heard();

            SliceStore.Watch watch = cluster.slices().watch(Scope.CLUSTER, "4", heard);
            assertThat(heard.next()).isEqualTo("changed 00000-x at 5");
            assertThat(heard.next()).isEqualTo("bookmark");
            assertThat(heard.next()).isEqualTo("deleted 00000-x at 9");
            assertThat(heard.next()).startsWith("ended").contains("too old");
            watch.close();

            server.requests.take();
            assertThat(server.requests.take().query())
                    .contains("spec.driver=gpu.example.com,spec.nodeName=")
                    .contains("resourceVersion=4")
                    .contains("watch=true")
                    .contains("allowWatchBookmarks=true");
        }

        @Test
        void aWatchWhoseConnectionEndsIsOver() throws Exception {
            server.then(200, NODE).thenStreamAndEnd();
            Heard heard = new Heard();

            cluster.slices().watch(Scope.NODE, "4", heard);

            assertThat(heard.next()).startsWith("ended");
            assertThat(server.requests).as("no watch is taken up again").hasSize(2);
        }

        @Test
        void asksWhatTheServerWouldKeepWithoutStoringIt() throws Exception {
            server.then(200, NODE).then(201, slice("", "node-uid"));

            assertThat(cluster.slices().tryCreate(content)).isEqualTo(content);

            server.requests.take();
            ScriptedServer.Request request = server.requests.take();
            assertThat(request.method()).isEqualTo("POST");
            assertThat(request.query()).isEqualTo("dryRun=All");
        }

        @Test
        void aServerWithoutTheApiIsToldFromOneThatFails() {
            server.then(200, NODE).then(404, "{}");

            assertThatThrownBy(() -> cluster.slices().list(Scope.NODE))
                    .isInstanceOf(ClusterException.ApiMissing.class)
                    .hasMessageContaining("Kubernetes 1.34 or newer");
        }

        @Test
        void aNodeThatDoesNotExistIsNamed() {
            server.then(404, "{}");

            assertThatThrownBy(() -> cluster.slices().list(Scope.NODE))
                    .isInstanceOf(ClusterException.class)
                    .isNotInstanceOf(ClusterException.ApiMissing.class)
                    .hasMessageContaining("no Node node-a");
        }

        private String typed(String object) {
            return "{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\","
                    + object.strip().substring(1);
        }
    }

    private static final class Heard implements SliceStore.Listener {
        private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

        @Override
        public void changed(Stored slice) {
            events.add("changed " + slice.name() + " at " + slice.resourceVersion());
        }

        @Override
        public void deleted(Stored slice) {
            events.add("deleted " + slice.name() + " at " + slice.resourceVersion());
        }

        @Override
        public void bookmark() {
            events.add("bookmark");
        }

        @Override
        public void ended(String reason) {
            events.add("ended " + reason);
        }

        String next() throws InterruptedException {
            return events.poll(20, TimeUnit.SECONDS);
        }
    }

    @Nested
    class Events {

        @Test
        void areOnTheNodeInNamespaceDefault() throws Exception {
            server.then(201, "{}");

            cluster.createEvent(true, "InvalidPool", "x".repeat(2000));

            ScriptedServer.Request request = server.requests.take();
            assertThat(request.method() + " " + request.path())
                    .isEqualTo("POST /api/v1/namespaces/default/events");
            JsonNode event = Json.parse(request.body());
            assertThat(event.at("/involvedObject/kind").asText()).isEqualTo("Node");
            assertThat(event.at("/involvedObject/name").asText()).isEqualTo("node-a");
            assertThat(event.path("type").asText()).isEqualTo("Warning");
            assertThat(event.path("reason").asText()).isEqualTo("InvalidPool");
            assertThat(event.path("message").asText()).hasSize(1024).endsWith("x …");
            assertThat(event.at("/source/component").asText()).isEqualTo("gpu.example.com");
        }

        @Test
        void thatAreNotPermittedFailWithTheServersWords() {
            server.then(403, "{\"message\":\"events is forbidden\"}");

            assertThatThrownBy(() -> cluster.createEvent(false, "R", "m"))
                    .hasMessageContaining("403")
                    .hasMessageContaining("events is forbidden");
        }
    }

    @Nested
    class Connecting {

        @Test
        void aServerWithoutTheApiIsNamedWithItsVersion() {
            server.then(404, "{}").then(200, "{\"gitVersion\":\"v1.33.1\"}");

            assertThatThrownBy(() -> cluster.requireDraApi(Duration.ofSeconds(10)))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("v1.33.1")
                    .hasMessageContaining("Kubernetes 1.34 or newer");
        }

        @Test
        void aServerThatCannotBeAskedStopsNothing() {
            server.close();

            assertThatCode(() -> cluster.requireDraApi(Duration.ofSeconds(1)))
                    .doesNotThrowAnyException();
        }

        @Test
        void aMissingKubeconfigIsNamed() {
            Path missing = directory.resolve("none");

            assertThatThrownBy(() -> Cluster.connect(missing, "d", "n"))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining(missing.toString())
                    .hasMessageContaining("no such file");
        }

        @Test
        void aKubeconfigThatIsNoneIsNamed() throws Exception {
            Path broken = Files.writeString(directory.resolve("broken"), "{{{ no yaml");

            assertThatThrownBy(() -> Cluster.connect(broken, "d", "n"))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining(broken.toString());
        }

        @Test
        void outsideOfAPodAKubeconfigIsAskedFor() {
            assertThatThrownBy(() -> ClientConfig.inCluster(Map.of(), directory))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("give a kubeconfig file");
        }

        @Test
        void inAPodTheTokenIsReadEachTime() throws Exception {
            Path token = Files.writeString(directory.resolve("token"), "first\n");

            var config =
                    ClientConfig.inCluster(
                            Map.of(
                                    "KUBERNETES_SERVICE_HOST", "fd00::1",
                                    "KUBERNETES_SERVICE_PORT", "443"),
                            directory);

            assertThat(config.getMasterUrl()).startsWith("https://[fd00::1]:443");
            assertThat(config.getOauthTokenProvider().getToken()).isEqualTo("first");
            Files.writeString(token, "second\n");
            assertThat(config.getOauthTokenProvider().getToken()).isEqualTo("second");
        }
    }
}
