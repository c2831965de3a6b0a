// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.SliceStore.Scope;
import io.dra4j.runtime.internal.observe.Meters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClusterTest extends ClusterUnderTest {

    private static final ClaimRef REF = new ClaimRef("default", "c1", "uid-1");
    private static final LeaseStore.Lease LEASE =
            new LeaseStore.Lease("me", Duration.ofSeconds(15), Instant.EPOCH, Instant.EPOCH, 0, "");
    private static final String GONE = "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"details\":{\"name\":\"c1\"}}";

    private String allocated;

    @BeforeEach
    void readClaim() throws IOException {
        allocated = Files.readString(Path.of("src/test/resources/io/dra4j/runtime/internal/cluster/claim.json"));
    }

    @Nested
    class ReadingAClaim {

        @Test
        void allThatIsAllocatedIsReadAndUnknownFieldsStay() throws Exception {
            server.then(200, allocated);

            ClaimObject claim = cluster.claimReader().read(REF, Duration.ofSeconds(10));

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
                                    false,
                                    Set.of("NodeUnprepareResources")),
                            new ClaimObject.Result(
                                    "other.example.com", "gpu/large", "p", "d", null, Map.of(), true, Set.of()));
            assertThat(claim.allocation().configs())
                    .containsExactly(
                            new ClaimObject.Config(true, List.of(), "gpu.example.com", "{\"k\":1}"),
                            new ClaimObject.Config(false, List.of("gpu/large"), "other.example.com", "{}"));
            ScriptedServer.Request request = server.requests.take();
            assertThat(request.path()).isEqualTo("/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c1");
            assertThat(request.userAgent()).startsWith("dra4j/").endsWith(" (gpu.example.com)");
            assertThat(request.accept())
                    .as("a status is updated by its managed fields")
                    .isEqualTo("application/json");
        }

        @Test
        void aClaimThatIsNotAllocatedHasNoAllocation() {
            server.then(200, "{\"metadata\":{\"uid\":\"u\"},\"status\":{}}");

            assertThat(cluster.claimReader().read(REF, Duration.ofSeconds(10)).allocation())
                    .isNull();
        }

        @Test
        void aClaimThatIsGoneIsNamedWithoutAPath() {
            server.then(404, GONE);

            assertThatThrownBy(() -> cluster.claimReader().read(REF, Duration.ofSeconds(30)))
                    .isInstanceOf(ClusterException.NotFound.class)
                    .hasMessageStartingWith("ResourceClaim default/c1 with UID uid-1 no longer exists")
                    .hasMessageNotContaining("apis/");
        }

        private ClusterException failureOfRead(Duration limit) {
            return catchThrowableOfType(
                    ClusterException.class, () -> cluster.claimReader().read(REF, limit));
        }

        @Test
        void aServerErrorIsWaitedFor() {
            server.then(500, "oops").then(503, "{\"message\":\"starting\"}").then(200, allocated);

            assertThat(cluster.claimReader().read(REF, Duration.ofSeconds(20)).uid())
                    .isEqualTo("uid-1");
            assertThat(server.requests).hasSize(3);
        }

        @Test
        void aRefusalIsNotRepeated() {
            server.then(403, "{\"message\":\"not allowed\"}").then(200, allocated);

            ClusterException failure = failureOfRead(Duration.ofSeconds(20));

            assertThat(failure).hasMessageContaining("403").hasMessageContaining("not allowed");
            assertThat(failure.isTransient()).isFalse();
            assertThat(server.requests).hasSize(1);
        }

        @Test
        void tooManyRequestsAreRepeatedAfterTheTimeAskedFor() {
            server.then(exchange -> {
                        exchange.getResponseHeaders().add("Retry-After", "1");
                        ScriptedServer.send(exchange, 429, "");
                    })
                    .then(200, allocated);
            long begun = System.nanoTime();

            cluster.claimReader().read(REF, Duration.ofSeconds(20));

            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
            assertThat(server.requests).hasSize(2);
        }

        @Test
        void aServerThatHangsIsGivenUpAtTheDeadline() {
            server.thenHang();
            long begun = System.nanoTime();

            ClusterException failure = failureOfRead(Duration.ofSeconds(2));

            assertThat(failure.isTransient()).isTrue();
            assertThat(failure).hasMessageContaining("did not answer");
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
        }

        @Test
        void aServerThatIsGoneIsTransient() {
            server.close();

            ClusterException failure = failureOfRead(Duration.ofSeconds(3));

            assertThat(failure.isTransient()).isTrue();
            assertThat(failure)
                    .hasMessageContaining("No answer from the API server")
                    .hasMessageContaining("Is the address in the kubeconfig right")
                    .hasMessageNotContaining("Exception")
                    .hasMessageContaining("; this was attempt ");
        }
    }

    @Nested
    class ReadingAllClaims {

        @Test
        void goesOnFromPageToPage() throws Exception {
            server.then(200, "{\"metadata\":{\"continue\":\"next/1\"},\"items\":[" + allocated + "]}")
                    .then(
                            200,
                            "{\"metadata\":{},\"items\":["
                                    + allocated.replace("c1", "c2").replace("uid-1", "uid-2")
                                    + "]}");

            Map<ClaimRef, ClaimObject> claims = cluster.claimReader().readAll(Duration.ofSeconds(20));

            assertThat(claims)
                    .containsOnlyKeys(REF, new ClaimRef("default", "c2", "uid-2"))
                    .extractingByKey(REF)
                    .satisfies(c -> assertThat(c.allocation().results()).hasSize(2));
            ScriptedServer.Request first = server.requests.take();
            assertThat(first.path()).isEqualTo("/apis/resource.k8s.io/v1/resourceclaims");
            assertThat(first.query()).isEqualTo("limit=500");
            assertThat(server.requests.take().query()).isEqualTo("limit=500&continue=next/1");
        }

        @Test
        void onlyTheApiItselfSaysThatThereIsNoClaim() {
            server.then(404, GONE).then(404, GONE).then(404, "404 page not found");

            assertThatThrownBy(() -> cluster.claimReader().read(REF, Duration.ofSeconds(20)))
                    .isInstanceOf(ClusterException.NotFound.class);
            assertThat(cluster.claimStatuses().exists(REF)).isFalse();
            assertThatThrownBy(() -> cluster.claimStatuses().apply(REF, "manager", List.of()))
                    .isInstanceOf(ClusterException.class)
                    .isNotInstanceOf(ClusterException.NotFound.class);
        }

        /** As of a proxy that does not reach the server. */
        @ParameterizedTest
        @CsvSource({"200, {}", "200, <html>", "200, []", "404, 404 page not found"})
        void anotherAnswerProvesNothing(int status, String body) {
            List<ThrowingCallable> calls = List.of(
                    () -> cluster.claimReader().read(REF, Duration.ofSeconds(20)),
                    () -> cluster.claimReader().readAll(Duration.ofSeconds(20)),
                    () -> cluster.claimFeed().list(),
                    () -> cluster.claimStatuses().exists(REF),
                    () -> cluster.slices().list(Scope.NODE),
                    () -> cluster.lease("ns", "lease", Duration.ofSeconds(20)).write(LEASE));
            for (ThrowingCallable call : calls) {
                server.then(status, body);
                assertThatThrownBy(call)
                        .isInstanceOf(ClusterException.class)
                        .isNotInstanceOf(ClusterException.NotFound.class);
            }
        }
    }

    @Nested
    class FollowingClaims {

        private final BlockingQueue<String> received = new LinkedBlockingQueue<>();

        private final Watch.Listener<String> listener = new Watch.Listener<>() {
            @Override
            public void changed(String claim) {
                received.add(claim);
            }

            @Override
            public void deleted(String claim) {
                received.add("deleted " + claim);
            }

            @Override
            public void bookmark() {
                received.add("bookmark");
            }

            @Override
            public void ended(String reason) {
                received.add("ended");
            }
        };

        @Test
        void asksForASignOfLife() throws Exception {
            server.thenStreamAndEnd("{\"type\":\"BOOKMARK\",\"object\":{}}");

            try (Watch watch = cluster.claimFeed().watch("7", listener)) {
                assertThat(server.requests.take().query()).contains("allowWatchBookmarks=true");
                assertThat(received.take()).isEqualTo("bookmark");
                assertThat(received.take()).isEqualTo("ended");
                assertThat(watch).isNotNull();
            }
        }
    }

    @Nested
    class Events {

        @Test
        void areOnTheNodeInNamespaceDefault() throws Exception {
            server.then(201, "{}");

            cluster.createEvent(true, "InvalidPool", "x".repeat(2000));

            ScriptedServer.Request request = server.requests.take();
            assertThat(request.method() + " " + request.path()).isEqualTo("POST /api/v1/namespaces/default/events");
            JsonNode event = Json.parse(request.body());
            assertThat(event.at("/involvedObject/kind").asText()).isEqualTo("Node");
            assertThat(event.at("/involvedObject/name").asText()).isEqualTo("node-a");
            assertThat(event.path("type").asText()).isEqualTo("Warning");
            assertThat(event.path("reason").asText()).isEqualTo("InvalidPool");
            assertThat(event.path("message").asText()).hasSize(1024).endsWith("x …");
            assertThat(event.at("/source/component").asText()).isEqualTo("gpu.example.com");
        }
    }

    @Nested
    class Connecting {

        @Test
        void aServerWithoutTheApiIsNamedWithItsVersionAndOneThatCannotBeAskedStopsNothing() {
            server.then(404, "{}").then(200, "{\"gitVersion\":\"v1.33.1\"}");

            assertThatThrownBy(() -> cluster.requireDraApi(Duration.ofSeconds(10)))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("v1.33.1")
                    .hasMessageContaining("Kubernetes 1.34 or newer");

            server.close();

            assertThatCode(() -> cluster.requireDraApi(Duration.ofSeconds(1))).doesNotThrowAnyException();
        }

        @Test
        void aKubeconfigThatIsMissingOrNoneIsNamed() throws Exception {
            Path missing = directory.resolve("none");

            assertThatThrownBy(() -> Cluster.connect(missing, "d", "n", Meters.none()))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining(missing.toString())
                    .hasMessageContaining("no such file");

            Path broken = Files.writeString(directory.resolve("broken"), "{{{ no yaml");

            assertThatThrownBy(() -> Cluster.connect(broken, "d", "n", Meters.none()))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining(broken.toString());
        }

        @Test
        void aKubeconfigThatIsReplacedCountsAtOnce() throws Exception {
            server.then(404, GONE);
            assertThatThrownBy(() -> cluster.claimReader().read(REF, Duration.ofSeconds(10)))
                    .isInstanceOf(ClusterException.NotFound.class);
            try (ScriptedServer other = new ScriptedServer()) {
                other.then(200, allocated).kubeconfig(directory);

                assertThat(cluster.claimReader()
                                .read(REF, Duration.ofSeconds(10))
                                .uid())
                        .isEqualTo("uid-1");
            }
        }

        @Test
        void aKubeconfigThatIsHalfWrittenIsWaitedFor() throws Exception {
            Path kubeconfig = directory.resolve("kubeconfig");
            Files.writeString(kubeconfig, "apiVersion: v1\nclusters: [{na");
            server.then(200, allocated).then(200, allocated);

            assertThat(cluster.claimReader().read(REF, Duration.ofSeconds(10)).uid())
                    .isEqualTo("uid-1");
            Files.delete(kubeconfig);
            assertThat(cluster.claimReader().read(REF, Duration.ofSeconds(10)).uid())
                    .isEqualTo("uid-1");
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

            var config = ClientConfig.inCluster(
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

    /** A status that another client changes between its reading and its update. */
    @Nested
    class AStatusThatAnotherClientChanges {

        private static final String NO_PATCH =
                "{\"message\":\"cannot patch resource \\\"resourceclaims/status\\\" in API group \\\"resource.k8s.io\\\"\"}";
        private static final String ENTRY =
                "{\"driver\":\"gpu.example.com\",\"pool\":\"p\",\"device\":\"d\",\"data\":1}";

        private static String claim(int version) {
            return "{\"metadata\":{\"uid\":\"uid-1\",\"resourceVersion\":\"%d\"}}".formatted(version);
        }

        private void apply() {
            cluster.claimStatuses().apply(new ClaimRef("default", "c", "uid-1"), "d/node-a", List.of(ENTRY));
        }

        @Test
        void isReadAgainAfterAConflict() {
            server.then(403, NO_PATCH).then(200, claim(1)).then(409, "{}");
            server.then(200, claim(2)).then(200, "{}");

            apply();

            assertThat(server.requests)
                    .extracting(request -> request.method())
                    .containsExactly("PATCH", "GET", "PUT", "GET", "PUT");
            ScriptedServer.Request last = List.copyOf(server.requests).get(4);
            assertThat(last.body()).contains("\"resourceVersion\":\"2\"", ENTRY);
            assertThat(last.query()).isEqualTo("fieldManager=d/node-a");
        }

        @Test
        void isGivenUpAfterFiveConflicts() {
            server.then(403, NO_PATCH);
            for (int i = 0; i < 6; i++) {
                server.then(200, claim(i)).then(409, "{}");
            }

            assertThatThrownBy(this::apply)
                    .isInstanceOfSatisfying(
                            ClusterException.class, e -> assertThat(e.status()).isEqualTo(409));
            assertThat(server.requests).hasSize(11);
        }
    }
}
