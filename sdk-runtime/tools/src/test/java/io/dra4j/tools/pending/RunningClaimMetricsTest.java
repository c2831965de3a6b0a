// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.pending;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.driver.HttpSettings;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.http.HttpPages;
import io.dra4j.testkit.proxy.ApiProxy;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metrics of claims that wait, over HTTP, with claims of each form on a real API server. */
class RunningClaimMetricsTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration LIMIT = Duration.ofMinutes(1); // a loaded machine is slow
    private static final Duration VALID = Duration.ofSeconds(15);
    private static final Path REFERENCE = Path.of("../../docs-site/reference/metrics.md");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String FOR_POD = "\"annotations\":{\"resource.kubernetes.io/pod-claim-name\":\"gpu\"},";
    private static final String PROTECTED = "\"finalizers\":[\"acme.com/keep\"],";

    @TempDir
    private Path folder;

    private final AtomicReference<Instant> now = new AtomicReference<>(START);
    private final EmbeddedApiServer api =
            EmbeddedApiServer.builder().clock(now::get).start();
    private final ApiProxy proxy = ApiProxy.before(api.url());
    private RunningClaimMetrics metrics;

    @BeforeEach
    void start() throws IOException {
        metrics = start("127.0.0.1:0");
    }

    private RunningClaimMetrics start(String endpoint) throws IOException {
        return RunningClaimMetrics.start(
                "gpu.example.com",
                proxy.writeKubeconfig(folder.resolve("kubeconfig")),
                HttpSettings.of(endpoint, HttpSettings.METRICS_PATH),
                now::get,
                LIMIT);
    }

    @AfterEach
    void stop() {
        metrics.close();
        proxy.close();
        api.close();
    }

    private HttpResponse<String> get(String path) throws Exception {
        return HttpPages.at(metrics.address().getPort()).get(path);
    }

    /** The series of pending claims, without the driver's label. */
    private List<String> pending() throws Exception {
        return get("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("dra4j_pending"))
                .map(line -> line.replace("driver=\"gpu.example.com\",", ""))
                .sorted()
                .toList();
    }

    private static String series(String deviceClass, boolean forPod, long claims, double age) {
        String labels = "{device_class=\"%s\",for_pod=\"%s\"} ".formatted(deviceClass, forPod);
        return "dra4j_pending_claim_age_seconds%s%s|dra4j_pending_claims%s%s"
                .formatted(labels, age, labels, (double) claims);
    }

    private static List<String> all(String... series) {
        return List.of(series).stream()
                .flatMap(both -> List.of(both.split("\\|")).stream())
                .sorted()
                .toList();
    }

    private static String exactly(String name, String deviceClass) {
        return "{\"name\":\"%s\",\"exactly\":{\"deviceClassName\":\"%s\"}}".formatted(name, deviceClass);
    }

    private static String firstAvailable(String name, String... classes) {
        return IntStream.range(0, classes.length)
                .mapToObj(i -> "{\"name\":\"s%d\",\"deviceClassName\":\"%s\"}".formatted(i, classes[i]))
                .collect(Collectors.joining(",", "{\"name\":\"" + name + "\",\"firstAvailable\":[", "]}"));
    }

    private void claim(String namespace, String name, String metadata, String... requests) throws IOException {
        JsonNode claim = JSON.readTree("""
                        {"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim",
                         "metadata":{%s"name":"%s","namespace":"%s"},
                         "spec":{"devices":{"requests":[%s]}}}
                        """.formatted(metadata, name, namespace, String.join(",", requests)));
        api.store().put(claim);
    }

    private void allocate(String name) {
        api.store()
                .changeStatus(
                        "resourceclaims",
                        "default",
                        name,
                        claim -> claim.withObject("/status/allocation/devices")
                                .putArray("results")
                                .addObject()
                                .put("request", "r")
                                .put("driver", "gpu.example.com")
                                .put("pool", "node-1")
                                .put("device", "gpu-0"));
    }

    private void later(Duration time) {
        now.updateAndGet(before -> before.plus(time));
    }

    @Test
    void countClaimsOfEachFormByTheClassesThatTheyName() throws Exception {
        claim("default", "exact", FOR_POD, exactly("r", "gpu.example.com"));
        later(Duration.ofSeconds(60));
        claim("team-a", "one-of", FOR_POD, firstAvailable("r", "gpu.example.com", "mig", "mig"));
        claim("team-b", "two", FOR_POD, exactly("a", "nic"), exactly("b", "mig"));
        claim("team-b", "twice", FOR_POD, exactly("a", "nic"), exactly("b", "nic"));
        claim("default", "by-hand", "", exactly("r", "nic"));
        claim("default", "allocated", FOR_POD, exactly("r", "gpu.example.com"));
        allocate("allocated");
        claim("default", "deleted", FOR_POD + PROTECTED, exactly("r", "gpu.example.com"));
        api.store().delete("resourceclaims", "default", "deleted");
        assertThat(api.store().find("resourceclaims", "default", "deleted")).isPresent();
        later(Duration.ofSeconds(30));

        assertThat(pending())
                .isEqualTo(all(
                        series("gpu.example.com", true, 2, 90),
                        series("mig", true, 2, 30),
                        series("nic", true, 2, 30),
                        series("nic", false, 1, 30)));
    }

    @Test
    void costOneListIn15SecondsHoweverManyScrape() throws Exception {
        claim("default", "waits", FOR_POD, exactly("r", "gpu.example.com"));
        int before = proxy.lastNumber();

        List<Integer> statuses = IntStream.range(0, 100)
                .parallel()
                .mapToObj(i -> {
                    try {
                        return get("/metrics").statusCode();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                })
                .toList();

        assertThat(statuses).hasSize(100).containsOnly(200);
        assertThat(proxy.requests(request -> request.number() > before))
                .singleElement()
                .satisfies(request -> {
                    assertThat(request.path()).isEqualTo("/apis/resource.k8s.io/v1/resourceclaims");
                    assertThat(request.query()).isEqualTo(Map.of("resourceVersion", "0"));
                });
    }

    @Test
    void areAbsentWhileTheApiServerIsAwayAndSayWhy() throws Exception {
        claim("default", "waits", FOR_POD, exactly("r", "gpu.example.com"));
        assertThat(pending()).hasSize(2);
        assertThat(get("/metrics").body())
                .contains("dra4j_claim_list_failures_total{driver=\"gpu.example.com\"} 0.0\n");
        proxy.down();
        later(VALID);

        assertThat(pending()).isEmpty();
        assertThat(get("/metrics").body())
                .contains("dra4j_claim_list_failures_total{driver=\"gpu.example.com\"} 1.0\n");
        assertThat(get("/healthz").statusCode()).isEqualTo(200);
        assertThat(get("/readyz").statusCode()).isEqualTo(200);
        assertThat(get("/readyz").body()).startsWith("ready\nno list of claims: No answer from");

        proxy.up();
        later(VALID);

        assertThat(pending()).isEqualTo(all(series("gpu.example.com", true, 1, VALID.toSeconds() * 2)));
        assertThat(get("/readyz").body()).isEqualTo("ready\n");
    }

    /** Alerts and dashboards are compared with the page, and so with this scrape. */
    @Test
    void haveTheTypesOfTheReferencePage() throws Exception {
        claim("default", "waits", FOR_POD, exactly("r", "gpu.example.com"));
        String page = Files.readString(REFERENCE);
        String section = page.substring(page.indexOf("## Claims that wait"), page.indexOf("## The driver"));

        assertThat(get("/metrics").body().lines())
                .filteredOn(line -> line.matches("# TYPE dra4j_(pending|claim_list).*"))
                .hasSize(3)
                .map(line -> line.replaceFirst("# TYPE (\\S+) (\\S+)", "| `$1` | $2 |"))
                .allSatisfy(row -> assertThat(section).contains(row));
    }

    @Test
    void needAPortThatIsFree() {
        String taken = "127.0.0.1:" + metrics.address().getPort();

        assertThatThrownBy(() -> start(taken))
                .isInstanceOf(DraException.class)
                .hasMessageContaining(taken)
                .hasMessageContaining("choose another --http-endpoint");
    }
}
