// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.testkit.Scenarios;
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
import java.util.HashMap;
import java.util.Map;
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

    private final URI url = proxy.url();
    private final Map<String, BufferedReader> watches = new HashMap<>();
    private final Map<String, CompletableFuture<String>> lines = new HashMap<>();
    private final Map<String, CompletableFuture<Integer>> begun = new HashMap<>();
    private HttpResponse<String> answer;
    private Injection injection;

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(url + path)).timeout(TIMEOUT);
    }

    private HttpResponse<String> send(HttpRequest request) throws Exception {
        return client.send(request, BodyHandlers.ofString());
    }

    private HttpResponse<String> create(String name) throws Exception {
        return send(creation(name, ""));
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

    @Scenarios("api-scenarios.txt")
    void requestsAreRecordedAndFail(String scenario) throws Exception {
        for (String line : scenario.split("\n")) {
            String[] words = line.split(" ");
            String rest = line.substring(line.indexOf(' ') + 1);
            switch (words[0]) {
                case "#" -> {} // its title
                case "get" -> answered(request(words[1]).build(), words[2]);
                case "create" -> answered(creation(words[1], ""), words[2]);
                case "create-large" -> answered(creation("x".repeat(3 * 1024 * 1024), ""), words[1]);
                case "dry-run" -> answered(creation(words[1], "?dryRun=All"), words[2]);
                case "broken" -> assertThatThrownBy(() -> create(words[1])).isInstanceOf(IOException.class);
                case "refused" -> assertThatThrownBy(() -> create(words[1])).isInstanceOf(ConnectException.class);
                case "begin" ->
                    begun.put(
                            words[1],
                            status(words[1].equals("get") ? request("/version").build() : creation(words[1], "")));
                case "ends" -> assertThat(begun.get(words[1]).get()).isEqualTo(Integer.parseInt(words[2]));
                case "body" -> assertThat(answer.body()).contains(rest);
                case "header" ->
                    assertThat(answer.headers().firstValue(words[1])).contains(words[2]);
                case "recorded" -> {
                    Predicate<RecordedRequest> kind = kind(words[1]);
                    proxy.await(TIMEOUT, kind);
                    assertThat(proxy.requests(kind))
                            .singleElement()
                            .asString()
                            .contains(line.split(" : ", 2)[1].split(" \\| "));
                }
                case "none" -> assertThat(proxy.requests(kind(words[1]))).isEmpty();
                case "log" -> assertThat(proxy.log()).contains(rest);
                case "took" ->
                    assertThat(proxy.await(TIMEOUT, one -> one.ended() != null)
                                    .took()
                                    .orElseThrow())
                            .isGreaterThan(Duration.ofMillis(Long.parseLong(words[1])));
                default -> play(words, rest);
            }
        }
    }

    private void answered(HttpRequest request, String status) throws Exception {
        answer = send(request);
        assertThat(answer.statusCode()).isEqualTo(Integer.parseInt(status));
    }

    /** The status of a response; -1 if the connection was closed instead. */
    private CompletableFuture<Integer> status(HttpRequest request) {
        return client.sendAsync(request, BodyHandlers.ofString())
                .handle((response, failure) -> failure == null ? response.statusCode() : -1);
    }

    private static Predicate<RecordedRequest> kind(String name) {
        return switch (name) {
            case "all" -> Requests.all();
            case "node-lists" -> Requests.lists("nodes");
            case "lease-writes" -> Requests.writes("leases");
            case "writes" -> RecordedRequest::write;
            case "dry-runs" -> RecordedRequest::dryRun;
            case "refusals" -> one -> one.status() == 409 && !one.errorBody().isEmpty();
            case "watches" -> RecordedRequest::watch;
            case "open-watches" -> Requests.watches("leases").and(RecordedRequest::open);
            case "ended-watches" -> one -> one.watch() && one.ended() != null;
            default -> throw new IllegalArgumentException(name);
        };
    }

    private void play(String[] words, String rest) throws Exception {
        switch (words[0]) {
            case "watch" -> watches.put(words[1], watch(watchFromNow()));
            case "watch-all" -> watches.put(words[1], watch(LEASES + "?watch=true"));
            case "watches" -> {
                for (int i = 0; i < Integer.parseInt(words[1]); i++) {
                    watch(watchFromNow());
                }
            }
            case "silent" -> assertThat(watches.get(words[1]).ready()).isFalse();
            case "next" -> lines.put(words[1], nextLine(watches.get(words[1])));
            case "line" -> assertThat(lines.get(words[1]).get()).matches(rest.split(" ", 2)[1]);
            case "has" -> assertThat(lines.get(words[1]).get()).contains(rest.split(" ", 2)[1].split(" \\| "));
            case "waits" -> assertThat(lines.get(words[1])).isNotDone();
            case "cut" -> proxy.cutWatches();
            case "expire" -> proxy.expireWatches();
            case "silence" -> proxy.silence();
            case "down" -> proxy.down();
            case "up" -> proxy.up();
            case "end-server" -> api.close();
            case "unanswered" -> {
                int before = proxy.lastNumber();
                HttpRequest onIdle =
                        request(NODES).timeout(Duration.ofSeconds(1)).build();
                assertThatThrownBy(() -> send(onIdle)).isInstanceOf(HttpTimeoutException.class);
                assertThat(proxy.lastNumber()).isEqualTo(before);
            }
            case "inject" -> {
                Fault fault = fault(words[1].split("-")).on(kind(words[2]));
                injection = proxy.inject(words.length > 3 ? fault.times(Integer.parseInt(words[3])) : fault);
            }
            case "held" -> {
                int held = Integer.parseInt(words[1]);
                proxy.awaitAll(
                        TIMEOUT,
                        all -> all.stream()
                                        .filter(one -> !one.fault().isEmpty())
                                        .count()
                                == held);
                assertThat(begun.values()).noneMatch(CompletableFuture::isDone);
            }
            case "remove" -> {
                assertThat(injection.over()).isFalse();
                injection.close();
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private static Fault fault(String[] words) {
        return switch (words[0]) {
            case "status" -> {
                Fault fault = Fault.status(Integer.parseInt(words[1]), words[2]);
                yield words.length > 3 ? fault.retryAfter(Duration.ofSeconds(Long.parseLong(words[3]))) : fault;
            }
            case "drop" -> Fault.drop();
            case "stall" -> Fault.stall();
            case "gone" -> Fault.gone();
            case "delay" -> Fault.delay(Duration.ofMillis(Long.parseLong(words[1])));
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    @Test
    void aWaitThatIsOverReportsWhatThereWas() throws Exception {
        send(request("/version").build());
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

    @Test
    void onlyAStatusCanHaveARetryAfter() {
        assertThatThrownBy(() -> Fault.drop().retryAfter(Duration.ofSeconds(1)))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> Fault.drop().times(0)).isInstanceOf(IllegalArgumentException.class);
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
            Predicate<RecordedRequest> watching = kind("open-watches");
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
