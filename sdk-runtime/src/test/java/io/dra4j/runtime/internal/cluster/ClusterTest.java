// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.management.ThreadMXBean;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.rules.Release;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.cluster.SliceStore.Scope;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls over a real connection to a scripted server; calls.txt has those that are repeated, and those that fail. */
class ClusterTest extends ClusterUnderTest implements ScenarioSteps {

    private static final ClaimRef REF = new ClaimRef("default", "c1", "uid-1");
    private static final LeaseStore.Lease LEASE =
            new LeaseStore.Lease("me", Duration.ofSeconds(15), Instant.EPOCH, Instant.EPOCH, 0, "");
    private static final String GONE = "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"details\":{\"name\":\"c1\"}}";
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final List<ScriptedServer> others = new ArrayList<>();
    private Duration took = Duration.ZERO;
    private String allocated;

    @BeforeEach
    void readClaim() throws IOException {
        allocated = Files.readString(Path.of("src/test/resources/io/dra4j/runtime/internal/cluster/claim.json"));
    }

    @AfterEach
    void closeOthers() {
        others.forEach(ScriptedServer::close);
    }

    /** Makes a call, whose result is a text. */
    private String call(String... words) {
        return switch (words[0]) {
            case "read" -> {
                Duration limit = words.length == 1 ? LIMIT : Duration.parse("PT" + words[1]);
                yield cluster.claimReader().read(REF, limit).uid();
            }
            case "exists" -> "" + cluster.claimStatuses().exists(REF);
            case "apply" -> {
                cluster.claimStatuses().apply(REF, "d/node-a", List.of(words[1]));
                yield "done";
            }
            case "pending" -> {
                List<Object> pending = new ArrayList<>();
                cluster.pendingClaims(pending::add, words.length == 1 ? LIMIT : Duration.parse("PT" + words[1]));
                yield list(pending.stream());
            }
            case "release" ->
                cluster.slices().kubernetes().map(Release::toString).orElse("none");
            case "list-slices" ->
                "" + cluster.slices().list(Scope.NODE).slices().size();
            case "watch-slices" -> "" + cluster.slices().watch(Scope.NODE, "4", new EventKinds<>());
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "answers" -> server.then(Integer.parseInt(words[1]), text);
            case "waits" ->
                server.then(exchange -> {
                    exchange.getResponseHeaders().add("Retry-After", words[1]);
                    ScriptedServer.send(exchange, 429, "");
                });
            case "streams-and-hangs" -> server.thenStream(text);
            case "hangs" -> server.thenHang();
            case "breaks-off" ->
                server.then(exchange -> {
                    exchange.sendResponseHeaders(200, 1000);
                    exchange.getResponseBody().write(text.getBytes(StandardCharsets.UTF_8));
                    exchange.getResponseBody().flush();
                    exchange.close();
                });
            case "closes" -> server.close();
            case "kubeconfig" -> Files.writeString(directory.resolve("kubeconfig"), text);
            case "no-kubeconfig" -> Files.delete(directory.resolve("kubeconfig"));
            case "another-server" -> {
                others.add(server);
                server = new ScriptedServer();
                server.kubeconfig(directory);
            }
            case "requests" -> assertNumber(server.requests.size(), words, text);
            case "methods" ->
                assertThat(list(server.requests.stream().map(ScriptedServer.Request::method)))
                        .isEqualTo(text);
            case "last-body" -> assertThat(lastRequest().body()).contains(text.split(" \\| "));
            case "last-query" -> assertThat(lastRequest().query()).isEqualTo(text);
            case "last-path" -> assertThat(lastRequest().path()).isEqualTo(text);
            case "took" -> assertThat(took).isBetween(Duration.parse("PT" + words[1]), Duration.parse("PT" + words[2]));
            case "fails", "fails-for-good", "fails-for-now", "not-found", "no-api", "forbidden" -> {
                String[] call = text.split(" : ", 2);
                ClusterException failure =
                        timed(() -> catchThrowableOfType(ClusterException.class, () -> call(call[0].split(" "))));
                assertThat(failure).hasMessageContainingAll(call[1].split(" \\| "));
                assertThat(failure.getMessage())
                        .doesNotContain("Exception", words[0].equals("not-found") ? "apis/" : "Exception");
                assertThat(failure instanceof ClusterException.NotFound).isEqualTo(words[0].equals("not-found"));
                assertThat(failure instanceof ClusterException.ApiMissing).isEqualTo(words[0].equals("no-api"));
                assertThat(failure instanceof ClusterException.Forbidden).isEqualTo(words[0].equals("forbidden"));
                assertThat(failure.isTransient() ? "fails-for-now" : "fails-for-good")
                        .startsWith(words[0].startsWith("fails") ? words[0] : "fails");
            }
            default -> assertThat(timed(() -> call(words))).isEqualTo(text);
        }
    }

    private ScriptedServer.Request lastRequest() {
        return List.copyOf(server.requests).get(server.requests.size() - 1);
    }

    private <T> T timed(Supplier<T> call) {
        long begin = System.nanoTime();
        T result = call.get();
        took = Duration.ofNanos(System.nanoTime() - begin);
        return result;
    }

    @Scenarios("calls.txt")
    void callsAreRepeatedOrSayWhatFailed(String scenario) throws Exception {
        play(scenario);
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
        void annotationsAreNotDecoded() {
            String large =
                    allocated.replace("\"uid\"", "\"annotations\":{\"a\":\"" + "x".repeat(10_000_000) + "\"},\"uid\"");
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long before = threads.getCurrentThreadAllocatedBytes();

            ClaimCodec.decode(large);

            assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(5_000_000);
        }

        @Test
        void aClaimThatIsNotAllocatedHasNoAllocation() {
            server.then(200, "{\"metadata\":{\"uid\":\"u\"},\"status\":{}}");

            assertThat(cluster.claimReader().read(REF, Duration.ofSeconds(10)).allocation())
                    .isNull();
        }
    }

    @Nested
    class ReadingAllClaims {

        @Test
        void goesOnFromPageToPage() throws Exception {
            String other = allocated.replace("c1", "c2").replace("uid-1", "uid-2");
            String many = String.join(",", Collections.nCopies(500, other));
            String managed = allocated.replace("\"uid\"", "\"managedFields\":[{\"uid\":1}],\"uid\"");
            server.then(200, "{\"metadata\":{\"continue\":\"next/1\"},\"items\":[" + managed + "]}")
                    .then(200, "{\"metadata\":{},\"items\":[" + many + "]}");

            Map<ClaimRef, ClaimObject> claims = new HashMap<>();
            cluster.claimReader().readAll(Duration.ofSeconds(20), (ref, claim) -> {
                claims.put(ref, claim);
                assertThat(server.requests).as("none is kept until the last").hasSize(claims.size());
            });

            assertThat(claims)
                    .containsOnlyKeys(REF, new ClaimRef("default", "c2", "uid-2"))
                    .extractingByKey(REF)
                    .satisfies(c -> assertThat(c.allocation().results()).hasSize(2))
                    .satisfies(c -> assertThat(c.json()).isEqualToIgnoringWhitespace(allocated));
            ScriptedServer.Request first = server.requests.take();
            assertThat(first.path()).isEqualTo("/apis/resource.k8s.io/v1/resourceclaims");
            assertThat(first.query()).isEqualTo("limit=500");
            assertThat(first.accept()).contains("drop=metadata.managedFields");
            assertThat(server.requests.take().query()).isEqualTo("limit=500&continue=next/1");
        }

        /** As of a proxy that does not reach the server. */
        @ParameterizedTest
        @CsvSource({"200, {}", "200, <html>", "200, []", "404, 404 page not found"})
        void anotherAnswerProvesNothing(int status, String body) {
            List<ThrowingCallable> calls = List.of(
                    () -> cluster.claimReader().read(REF, Duration.ofSeconds(20)),
                    () -> cluster.claimReader().readAll(Duration.ofSeconds(20), (ref, claim) -> {}),
                    () -> cluster.claimFeed().list(claim -> {}),
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

        private final EventKinds<String> received = new EventKinds<>() {
            @Override
            public void bookmark() {
                kinds.add("bookmark");
            }
        };

        @Test
        void asksForASignOfLife() throws Exception {
            server.thenStreamAndEnd("{\"type\":\"BOOKMARK\",\"object\":{}}");

            try (Watch watch = cluster.claimFeed().watch("7", received)) {
                assertThat(server.requests.take().query()).contains("allowWatchBookmarks=true");
                assertThat(received.kinds.take()).isEqualTo("bookmark");
                assertThat(received.kinds.take()).isEqualTo("ended");
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

            server.then(404, "").then(404, "");
            assertThatCode(() -> cluster.requireDraApi(Duration.ofSeconds(10))).doesNotThrowAnyException();
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
}
