// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.observe.Metric.Kind;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class HttpEndpointTest {

    private static final int HALF_OPEN = 200;

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(CompositeMeterRegistry.class, Level.WARN);

    private final HttpClient http = HttpClient.newHttpClient();
    private final CompositeMeterRegistry registry = new CompositeMeterRegistry();
    private final Meters.Shown shown = Meters.Shown.in(registry);
    private final Meters meters = new Meters(shown, "gpu.example.com", "node-1");
    private final List<String> missing = new CopyOnWriteArrayList<>();
    private final List<String> notes = new CopyOnWriteArrayList<>();
    private volatile @Nullable String restartReason;
    private volatile boolean started;
    private final HttpEndpoint.Probes probes = new HttpEndpoint.Probes(
            () -> Optional.ofNullable(restartReason),
            () -> List.copyOf(missing),
            () -> List.copyOf(notes),
            () -> started);

    @AutoClose
    private final HttpEndpoint endpoint = start(0);

    private HttpEndpoint start(int port) {
        try {
            return HttpEndpoint.start(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port), "/metrics", meters, probes);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private HttpResponse<String> ask(String method, String path, String... headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + endpoint.address().getPort() + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .timeout(Duration.ofSeconds(20));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return http.send(request.build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return ask("GET", path);
    }

    /** Gives each metric a value, as if all had been measured once. */
    private void measure(Metric metric) {
        String[] values = metric.labels().stream().map(label -> "some").toArray(String[]::new);
        switch (metric.kind()) {
            case COUNTER -> meters.count(metric, 3, values);
            case TIMER -> meters.time(metric, Duration.ofMillis(7), values);
            case GAUGE -> meters.watch(metric, () -> 5, values);
        }
    }

    @Nested
    class Probes {

        @Test
        void theProcessIsNotHealthyWhileItNeedsARestart() throws Exception {
            restartReason = "the library can't be opened";

            HttpResponse<String> needed = get("/healthz");
            restartReason = null;

            assertThat(needed.statusCode()).isEqualTo(503);
            assertThat(needed.body()).isEqualTo("restart needed: the library can't be opened\n");
            assertThat(get("/healthz").statusCode()).isEqualTo(200);
        }

        @Test
        void readinessNamesWhatIsMissingAndHasNotesWhetherSomethingIsMissingOrNot() throws Exception {
            assertThat(get("/readyz").body()).isEqualTo("ready\n");
            notes.add("left out: GPU-5b3f: broken");

            HttpResponse<String> ready = get("/readyz");
            missing.addAll(List.of("devices: all are left out", "pool node-1: not published"));
            HttpResponse<String> unready = get("/readyz");
            assertThat(get("/healthz").body()).isEqualTo("ok\n");

            assertThat(ready.statusCode()).isEqualTo(200);
            assertThat(ready.body()).isEqualTo("ready\nleft out: GPU-5b3f: broken\n");
            assertThat(unready.statusCode()).isEqualTo(503);
            assertThat(unready.body()).isEqualTo("""
                            not ready
                            devices: all are left out
                            pool node-1: not published
                            left out: GPU-5b3f: broken
                            """);
        }

        @Test
        void theStartIsOverOnceTheDriverSaysSo() throws Exception {
            missing.add("pool node-1: not published");

            HttpResponse<String> before = get("/startupz");
            started = true;

            assertThat(before.statusCode()).isEqualTo(503);
            assertThat(before.body()).isEqualTo("still starting\n");
            assertThat(get("/startupz").statusCode()).isEqualTo(200);
        }

        @Test
        void clientsThatHangKeepNoProbeWaiting() throws Exception {
            List<Socket> hanging = new ArrayList<>();
            try {
                for (int i = 0; i < HALF_OPEN; i++) {
                    Socket socket = new Socket(
                            InetAddress.getLoopbackAddress(), endpoint.address().getPort());
                    socket.getOutputStream().write("GET /metr".getBytes(StandardCharsets.UTF_8));
                    hanging.add(socket);
                }

                assertThat(get("/healthz").statusCode()).isEqualTo(200);
            } finally {
                for (Socket socket : hanging) {
                    socket.close();
                }
            }
        }

        @Test
        void aQuestionThatHangsKeepsNoProbeWaiting() throws Exception {
            CountDownLatch requested = new CountDownLatch(1);
            CountDownLatch answered = new CountDownLatch(1);
            meters.watch(Metric.HELD_DEVICES, () -> {
                requested.countDown();
                await(answered);
                return 1;
            });
            Thread scrape = new Thread(() -> assertThat(getQuietly("/metrics")).isEqualTo(200));
            scrape.start();
            await(requested);

            assertThat(get("/healthz").statusCode()).isEqualTo(200);

            answered.countDown();
            scrape.join();
        }

        /** A stalled disk is scraped for hours, and a page that waits for it does not end by an interrupt. */
        @Test
        void anyNumberOfScrapesThatHangKeepsNoProbeWaiting() throws Exception {
            CompletableFuture<Integer> stalled = new CompletableFuture<>();
            meters.watch(Metric.HELD_DEVICES, stalled::join);
            List<Socket> hanging = new ArrayList<>();
            try {
                for (int i = 0; i < 2 * HALF_OPEN; i++) {
                    Socket socket = new Socket(
                            InetAddress.getLoopbackAddress(), endpoint.address().getPort());
                    socket.getOutputStream().write("GET /metrics HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.UTF_8));
                    hanging.add(socket);
                }

                assertThat(get("/healthz").statusCode()).isEqualTo(200);
                assertThat(get("/metrics").statusCode()).isEqualTo(503);
            } finally {
                stalled.complete(1);
                for (Socket socket : hanging) {
                    socket.close();
                }
            }
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private int getQuietly(String path) {
            try {
                return get(path).statusCode();
            } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Nested
    class Pages {

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "/",
                    "/healthzz",
                    "/healthz/x",
                    "/readyz/",
                    "/metrics/x",
                    "/metricsx",
                    "/../metrics",
                    "/%2e%2e/metrics",
                    "/debug"
                })
        void thereAreNoOthers(String path) throws Exception {
            assertThat(get(path).statusCode()).isEqualTo(404);
        }

        @ParameterizedTest
        @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH"})
        void areForReadingOnly(String method) throws Exception {
            HttpResponse<String> answer = ask(method, "/metrics");

            assertThat(answer.statusCode()).isEqualTo(405);
            assertThat(answer.headers().firstValue("Allow")).contains("GET, HEAD");
        }

        @Test
        void haveAHead() throws Exception {
            HttpResponse<String> answer = ask("HEAD", "/metrics");

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEmpty();
        }

        @Test
        void areGoneWhenTheEndpointIsClosedAndItsAddressIsFree() throws Exception {
            int port = endpoint.address().getPort();
            endpoint.close();

            try (HttpEndpoint next = start(port)) {
                assertThat(next.address().getPort()).isEqualTo(port);
                assertThat(get("/healthz").statusCode()).isEqualTo(200);
            }
        }

        @Test
        void areNotServedOnAnAddressThatIsInUse() {
            assertThatThrownBy(() -> HttpEndpoint.start(endpoint.address(), "/metrics", meters, probes))
                    .isInstanceOf(BindException.class);
        }
    }

    @Nested
    class TheMetrics {

        @ParameterizedTest
        @EnumSource(Metric.class)
        void areNamedAndTypedAsTheReferenceSays(Metric metric) throws Exception {
            measure(metric);

            List<String> page = get("/metrics").body().lines().toList();

            String name = metric.prometheusName();
            assertThat(page)
                    .contains("# HELP " + name + " " + metric.meaning())
                    .contains("# TYPE " + name + " " + DocumentationTest.type(metric));
            String sample = metric.kind() == Kind.TIMER ? name + "_count" : name;
            List<String> labels = new ArrayList<>(List.of("driver=\"gpu.example.com\"", "node=\"node-1\""));
            metric.labels().forEach(label -> labels.add(label + "=\"some\""));
            assertThat(page)
                    .filteredOn(line -> line.startsWith(sample + "{"))
                    .singleElement()
                    .asString()
                    .contains(labels)
                    .endsWith(
                            switch (metric.kind()) {
                                case COUNTER -> " 3.0";
                                case TIMER -> " 1";
                                case GAUGE -> metric == Metric.BUILD_INFO ? " 1" : " 5.0";
                            });
        }

        @Test
        void areInThePlainFormatOrInOpenMetricsAsTheClientWants() throws Exception {
            meters.count(Metric.PROBLEMS, "InvalidPool");

            HttpResponse<String> plain = get("/metrics");
            HttpResponse<String> open =
                    ask("GET", "/metrics", "Accept", "application/openmetrics-text;q=0.9,*/*;q=0.1");

            assertThat(plain.headers().firstValue("Content-Type")).contains("text/plain; version=0.0.4; charset=utf-8");
            assertThat(plain.body()).doesNotContain("# EOF");
            assertThat(open.headers().firstValue("Content-Type"))
                    .contains("application/openmetrics-text; version=1.0.0; charset=utf-8");
            assertThat(open.body()).endsWith("# EOF\n");
        }

        @Test
        void tellOfTheProcessAndOfWhatTheHostCountsInTheSameRegistry() throws Exception {
            assertThat(get("/metrics").body())
                    .contains("jvm_memory_used_bytes", "process_files_open_files", "jvm_threads_");

            registry.counter("acme.resets").increment();

            assertThat(get("/metrics").body()).contains("acme_resets_total 1.0");
        }

        @Test
        void areInTheHostsRegistryWithWhatItAddsAndLeaveItWithTheDriver() {
            SimpleMeterRegistry ofTheHost = new SimpleMeterRegistry();
            registry.add(ofTheHost);
            registry.config().commonTags("cluster", "a");
            Arrays.stream(Metric.values()).forEach(HttpEndpointTest.this::measure);
            registry.counter("acme.resets").increment();
            assertThat(registry.find(Metric.HELD_DEVICES.meterName())
                            .tag("cluster", "a")
                            .gauge())
                    .isNotNull();
            assertThat(ofTheHost.getMeters()).hasSizeGreaterThan(Metric.values().length);

            meters.close();
            endpoint.close();
            meters.count(Metric.PROBLEMS, "Late");

            assertThat(registry.getMeters())
                    .singleElement()
                    .satisfies(left -> assertThat(left.getId().getName()).isEqualTo("acme.resets"));
            assertThat(ofTheHost.getMeters()).hasSize(1);
            assertThat(shown.endpoints().getRegistries()).isEmpty();
        }

        /** A rolling update in one JVM. */
        @Test
        void stayUntilTheLastInstanceOfTheDriverIsClosed() throws Exception {
            Meters next = new Meters(shown, "gpu.example.com", "node-1");
            Stream.of(meters, next).forEach(instance -> instance.count(Metric.PROBLEMS, "InvalidPool"));
            meters.watch(Metric.HELD_DEVICES, () -> 1);
            next.watch(Metric.HELD_DEVICES, () -> 2);

            meters.close();
            PrometheusScrape late = new PrometheusScrape(next);

            assertThat(new String(late.page("").body(), StandardCharsets.UTF_8))
                    .containsPattern(Metric.HELD_DEVICES.prometheusName() + ".* 2.0");
            assertThat(get("/metrics").body().lines().filter(line -> line.contains("driver=")))
                    .anyMatch(line -> line.startsWith(Metric.PROBLEMS.prometheusName()) && line.endsWith(" 2.0"))
                    .anyMatch(line -> line.startsWith(Metric.HELD_DEVICES.prometheusName()) && line.endsWith(" 2.0"));
            next.close();
            late.close();
            assertThat(registry.getMeters()).isEmpty();
            assertThat(log.list).isEmpty();
        }

        @Test
        void areMeasuredWithTheLabelsOfTheirKindOnly() {
            assertThatThrownBy(() -> meters.count(Metric.CLAIMS, "prepare"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("CLAIMS is a COUNTER with the labels [operation, result]");
            assertThatThrownBy(() -> meters.time(Metric.HELD_DEVICES, Duration.ZERO))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
