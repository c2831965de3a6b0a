// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.cluster.TestKeys;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The proxy between real clients and the embedded API server, over real sockets. */
@Timeout(60)
class ApiProxyIT {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String NODES = "/api/v1/nodes";
    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

    @AutoClose
    private final EmbeddedApiServer api =
            EmbeddedApiServer.builder().node("node-1").start();

    @AutoClose
    private final ApiProxy proxy = ApiProxy.before(api.url());

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(proxy.url() + path)).timeout(TIMEOUT);
    }

    private HttpResponse<String> get(String path) throws Exception {
        return client.send(request(path).build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> create(String name) throws Exception {
        return client.send(creation(name, ""), BodyHandlers.ofString());
    }

    private HttpRequest creation(String name, String query) {
        String body = """
                {"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"%s"}}
                """.formatted(name);
        return request(LEASES + query)
                .header("Content-Type", "application/json")
                .expectContinue(!query.isEmpty())
                .POST(BodyPublishers.ofString(body))
                .build();
    }

    /** An open watch, read line by line. */
    private BufferedReader watch(String path) throws Exception {
        HttpResponse<InputStream> answer = client.send(request(path).build(), BodyHandlers.ofInputStream());
        assertThat(answer.statusCode()).isEqualTo(200);
        return new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
    }

    private static CompletableFuture<String> nextLine(BufferedReader watch) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return String.valueOf(watch.readLine());
            } catch (IOException e) {
                return "broken: " + e.getMessage();
            }
        });
    }

    private String watchFromNow() {
        return LEASES + "?watch=true&resourceVersion=" + api.store().revision();
    }

    @Nested
    class Recording {

        @Test
        void aRequestIsRecordedWithNumberQueryAndStatus() throws Exception {
            get("/version");
            get(NODES + "?fieldSelector=metadata.name%3Dnode-1&limit=500");

            RecordedRequest list = proxy.await(TIMEOUT, Requests.lists("nodes"));
            assertThat(list.number()).isEqualTo(2);
            assertThat(list.path()).isEqualTo(NODES);
            assertThat(list.query())
                    .containsEntry("fieldSelector", "metadata.name=node-1")
                    .containsEntry("limit", "500");
            assertThat(list.status()).isEqualTo(200);
            assertThat(list.client()).startsWith("HTTP/1.1 Java-http-client/");
            assertThat(list.write()).isFalse();
        }

        @Test
        void aWriteIsRecordedWithItsBodyAndADryRunIsNoWrite() throws Exception {
            assertThat(create("one").statusCode()).isEqualTo(201);
            client.send(creation("two", "?dryRun=All"), BodyHandlers.ofString());

            assertThat(proxy.requests(Requests.writes("leases")))
                    .singleElement()
                    .satisfies(write -> assertThat(write.body()).contains("\"name\":\"one\""));
            assertThat(proxy.requests(RecordedRequest::dryRun)).singleElement().matches(one -> one.status() == 201);
        }

        @Test
        void aRefusalIsRecordedWithTheServersWords() throws Exception {
            create("one");
            create("one");

            RecordedRequest refused = proxy.await(
                    TIMEOUT, one -> one.status() == 409 && !one.errorBody().isEmpty());
            assertThat(refused.errorBody()).contains("AlreadyExists");
            assertThat(create("x".repeat(3 * 1024 * 1024)).statusCode()).isEqualTo(413);
            assertThat(proxy.log()).contains("POST", LEASES, "409", "AlreadyExists");
        }

        @Test
        void aWaitThatIsOverReportsWhatThereWas() throws Exception {
            get("/version");
            assertThatThrownBy(() -> proxy.await(Duration.ofMillis(10), Requests.writes("nodes")))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("/version");
        }

        @Test
        void anotherThanAnHttpServerIsRefused() {
            assertThatThrownBy(() -> ApiProxy.before(URI.create("https://127.0.0.1:6443")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("https://127.0.0.1:6443 needs a TLS context");
            assertThatThrownBy(() -> ApiProxy.before(URI.create("unix:/run/api.sock")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not unix:/run/api.sock");
        }
    }

    @Nested
    class Watches {

        @Test
        void theHeadersOfAWatchComeBeforeItsFirstEvent() throws Exception {
            try (BufferedReader watch = watch(watchFromNow())) {
                assertThat(proxy.await(TIMEOUT, RecordedRequest::watch).open()).isTrue();
                assertThat(watch.ready()).isFalse();
            }
        }

        @Test
        void eachEventComesAtOnceAlsoWhileManyWatch() throws Exception {
            for (int i = 0; i < 100; i++) {
                watch(watchFromNow());
            }
            try (BufferedReader watch = watch(watchFromNow())) {
                for (String name : new String[] {"a", "b", "c"}) {
                    CompletableFuture<String> line = nextLine(watch);
                    create(name);
                    assertThat(line.get()).startsWith("{\"type\":\"ADDED\"").contains("\"name\":\"" + name + "\"");
                }
            }
        }

        @Test
        void openWatchesCanBeCut() throws Exception {
            try (BufferedReader watch = watch(watchFromNow())) {
                CompletableFuture<String> line = nextLine(watch);
                proxy.cutWatches();
                assertThat(line.get()).startsWith("broken");
                proxy.await(TIMEOUT, one -> one.watch() && one.ended() != null);
            }
        }

        @Test
        void openWatchesCanExpireInTheStream() throws Exception {
            try (BufferedReader watch = watch(watchFromNow())) {
                CompletableFuture<String> first = nextLine(watch);
                proxy.expireWatches();
                assertThat(first.get()).contains("\"ERROR\"", "\"code\":410", "\"Expired\"");
                assertThat(nextLine(watch).get()).isEqualTo("null");
            }
        }

        @Test
        void aNewWatchCanBeStalledOrExpired() throws Exception {
            proxy.inject(Fault.stall().on(RecordedRequest::watch).times(1));
            proxy.inject(Fault.gone().on(RecordedRequest::watch).times(1));
            try (BufferedReader silent = watch(LEASES + "?watch=true");
                    BufferedReader gone = watch(LEASES + "?watch=true")) {
                CompletableFuture<String> line = nextLine(silent);
                create("one");
                assertThat(nextLine(gone).get()).contains("\"ERROR\"");
                assertThat(line).isNotDone();
                proxy.cutWatches();
                assertThat(line.get()).startsWith("broken");
            }
        }

        @Test
        void aCutOfTheServerIsACutForTheClient() throws Exception {
            try (BufferedReader watch = watch(watchFromNow())) {
                api.close();
                assertThat(nextLine(watch).get()).matches("null|broken.*");
                assertThatThrownBy(() -> create("one")).isInstanceOf(IOException.class);
            }
        }
    }

    @Nested
    class Faults {

        @Test
        void aStatusIsAnsweredAsOftenAsWanted() throws Exception {
            proxy.inject(Fault.status(429, "TooManyRequests")
                    .retryAfter(Duration.ofSeconds(7))
                    .on(Requests.writes("leases"))
                    .times(2));

            assertThat(get(NODES).statusCode()).isEqualTo(200);
            HttpResponse<String> refused = create("one");
            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.headers().firstValue("Retry-After")).contains("7");
            assertThat(refused.body()).contains("\"kind\":\"Status\"", "\"retryAfterSeconds\":7", "TooManyRequests");
            assertThat(create("one").statusCode()).isEqualTo(429);
            assertThat(create("one").statusCode()).isEqualTo(201);
            assertThat(proxy.log()).contains("[answered 429 TooManyRequests]");
        }

        @Test
        void aFaultEndsWhenItIsRemoved() throws Exception {
            try (Injection fault = proxy.inject(Fault.status(503, "ServiceUnavailable"))) {
                assertThat(get("/version").statusCode()).isEqualTo(503);
                assertThat(fault.over()).isFalse();
            }
            assertThat(get("/version").statusCode()).isEqualTo(200);
        }

        @Test
        void aDroppedRequestDoesNotReachTheServer() throws Exception {
            proxy.inject(Fault.drop().on(RecordedRequest::write).times(1));

            assertThatThrownBy(() -> create("one")).isInstanceOf(IOException.class);

            assertThat(proxy.requests(RecordedRequest::write))
                    .singleElement()
                    .satisfies(one -> assertThat(one.status()).isZero());
            assertThat(create("one").statusCode()).isEqualTo(201);
        }

        @Test
        void aDelayedRequestIsHeldAndThenAnswered() throws Exception {
            proxy.inject(Fault.delay(Duration.ofMillis(400)).times(1));

            assertThat(get("/version").statusCode()).isEqualTo(200);

            RecordedRequest request = proxy.await(TIMEOUT, one -> one.ended() != null);
            assertThat(request.took())
                    .hasValueSatisfying(took -> assertThat(took).isGreaterThan(Duration.ofMillis(350)));
        }

        @Test
        void whatAFaultHoldsIsHeldNoLongerThanTheFaultIsThere() throws Exception {
            CompletableFuture<Integer> read;
            CompletableFuture<Integer> write;
            try (Injection holding = proxy.inject(Fault.delay(Duration.ofMinutes(10)))) {
                read = status(request("/version").build());
                write = status(creation("late", ""));
                proxy.awaitAll(
                        TIMEOUT,
                        all -> all.stream()
                                        .filter(one -> !one.fault().isEmpty())
                                        .count()
                                == 2);
                assertThat(holding.over()).isFalse();
                assertThat(read).isNotDone();
            }

            assertThat(read.get()).isEqualTo(200);
            assertThat(write.get()).isEqualTo(-1);
            assertThat(get(LEASES + "/late").statusCode()).isEqualTo(404);
        }

        /** The status of a response; -1 if the connection was closed instead. */
        private CompletableFuture<Integer> status(HttpRequest request) {
            return client.sendAsync(request, BodyHandlers.ofString())
                    .handle((response, failure) -> failure == null ? response.statusCode() : -1);
        }

        @Test
        void onlyAStatusCanHaveARetryAfter() {
            assertThatThrownBy(() -> Fault.drop().retryAfter(Duration.ofSeconds(1)))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> Fault.drop().times(0)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Nested
    class Outages {

        @Test
        void downRefusesConnectionsAndUpTakesThemOnTheSamePort() throws Exception {
            URI url = proxy.url();
            try (BufferedReader watch = watch(watchFromNow())) {
                CompletableFuture<String> line = nextLine(watch);
                proxy.down();
                assertThat(line.get()).startsWith("broken");
                assertThatThrownBy(() -> create("one")).isInstanceOf(ConnectException.class);
            }

            proxy.up();

            assertThat(proxy.url()).isEqualTo(url);
            assertThat(create("one").statusCode()).isEqualTo(201);
        }

        @Test
        void openConnectionsGoSilentAndNewOnesWork() throws Exception {
            String path = watchFromNow();
            CompletableFuture<String> silenced = nextLine(watch(path));
            get(NODES); // which leaves an idle connection
            proxy.silence();
            int before = proxy.lastNumber();

            HttpRequest onIdle = request(NODES).timeout(Duration.ofSeconds(1)).build();
            assertThatThrownBy(() -> client.send(onIdle, BodyHandlers.ofString()))
                    .isInstanceOf(HttpTimeoutException.class);
            assertThat(proxy.lastNumber()).isEqualTo(before);

            CompletableFuture<String> heard = nextLine(watch(path));
            assertThat(create("one").statusCode()).isEqualTo(201);
            assertThat(heard.get()).contains("ADDED");
            assertThat(silenced).isNotDone();
        }
    }

    @Nested
    class BeforeFabric8 {

        @TempDir
        private Path folder;

        private KubernetesClient fabric8() throws IOException {
            Path file = proxy.writeKubeconfig(folder.resolve("kubeconfig"));
            assertThat(Files.getPosixFilePermissions(file)).hasSize(2);
            return new KubernetesClientBuilder()
                    .withConfig(Config.fromKubeconfig(file.toFile()))
                    .editOrNewConfig()
                    .withRequestRetryBackoffLimit(0)
                    .endConfig()
                    .build();
        }

        private static Lease lease(String name) {
            return new LeaseBuilder()
                    .withNewMetadata()
                    .withNamespace("default")
                    .withName(name)
                    .endMetadata()
                    .build();
        }

        @Test
        void anInformerWatchesByPlainHttpAndSurvivesACut() throws Exception {
            Predicate<RecordedRequest> watching = Requests.watches("leases").and(RecordedRequest::open);
            try (KubernetesClient fabric8 = fabric8();
                    SharedIndexInformer<Lease> informer = fabric8.resources(Lease.class)
                            .inNamespace("default")
                            .inform()) {
                int before = proxy.await(TIMEOUT, watching).number();
                fabric8.resource(lease("before")).create();
                proxy.cutWatches();
                proxy.await(TIMEOUT, watching.and(Requests.after(before)));
                fabric8.resource(lease("after")).create();
                informer.stop();
            }
            assertThat(proxy.requests(Requests.creates("leases")))
                    .extracting(RecordedRequest::status)
                    .containsExactly(201, 201);
        }
    }

    @Nested
    class ServiceAccount {

        private HttpClient trusting(Path account) throws Exception {
            return TestKeys.clientOf(Files.readString(account.resolve("ca.crt")), HttpClient.Version.HTTP_2);
        }

        private int version(HttpClient client, int port) throws Exception {
            URI version = URI.create("https://127.0.0.1:" + port + "/version");
            return client.send(HttpRequest.newBuilder(version).build(), BodyHandlers.ofString())
                    .statusCode();
        }

        @Test
        void servesHttp2WhoseStreamsCanBeCut(@TempDir Path account) throws Exception {
            URI server = URI.create("https://127.0.0.1:" + proxy.writeServiceAccount(account, "default"));
            HttpClient http2 = trusting(account);
            try (TcpProxy tcp = TcpProxy.before(server)) {
                HttpRequest watch = HttpRequest.newBuilder(tcp.url().resolve(watchFromNow()))
                        .build();
                HttpResponse<InputStream> answer = http2.send(watch, BodyHandlers.ofInputStream());
                assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
                BufferedReader lines = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8));
                create("a");
                assertThat(lines.readLine()).contains("\"ADDED\"", "\"name\":\"a\"");
                proxy.cutWatches();
                assertThatThrownBy(lines::readLine).isInstanceOf(IOException.class);
                proxy.await(TIMEOUT, one -> one.watch() && one.ended() != null);
                assertThat(version(http2, tcp.port())).isEqualTo(200);
                assertThat(tcp.connections()).hasSize(1);
            }
        }
    }
}
