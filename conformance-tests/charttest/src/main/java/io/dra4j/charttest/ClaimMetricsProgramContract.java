// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.charttest.Manifests.Kind;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.ApiProxy;
import io.dra4j.testkit.rbac.ApiAction;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The rules for each driver's program as the process that serves metrics of waiting claims, with the arguments, the
 * variables and the rights that the chart gives it; a test of the driver extends this.
 */
public abstract class ClaimMetricsProgramContract {

    private static final String CLAIM = """
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaim
            metadata:
              name: waits
              annotations: {resource.kubernetes.io/pod-claim-name: gpu}
            spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.example.com}}]}}
            """;

    @TempDir
    private Path folder;

    /** The program, without arguments. */
    protected abstract List<String> program();

    private static Manifests manifests() {
        return ChartContract.CHART.render(ChartInstallation.DEFAULT.set("claimMetrics.enabled", true));
    }

    private static JsonNode claim() throws Exception {
        return Manifests.MAPPER.readTree(CLAIM);
    }

    @Test
    void itServesClaimsThatWaitWithTheRightsOfTheChartUntilItIsTerminated() throws Exception {
        try (ClaimMetricsProcess process = ClaimMetricsProcess.start(manifests(), program(), folder)) {
            process.api().store().put(claim());

            assertThat(process.awaitMetrics(page -> page.contains("dra4j_pending_claims{")))
                    .contains("device_class=\"gpu.example.com\",driver=\"", "for_pod=\"true\"} 1.0\n");
            assertThat(process.get("/healthz")).isEqualTo("ok\n");
            assertThat(process.get("/readyz")).isEqualTo("ready\n");
            assertThat(process.refused()).isEmpty();
            assertThat(process.terminate()).isZero();
        }
    }

    @Test
    void withoutOneOfItsRightsItSaysWhichIsMissing() throws Exception {
        assertThat(Right.of(Right.CLAIM_METRICS)).isNotEmpty();
        for (Right right : Right.of(Right.CLAIM_METRICS)) {
            Manifests manifests = manifests();
            assertThat(right.removeFrom(manifests.of(Kind.ClusterRole))).isTrue();
            try (ClaimMetricsProcess process = ClaimMetricsProcess.start(manifests, program(), folder)) {
                process.api().store().put(claim());

                assertThat(process.awaitMetrics(page -> page.contains("missing_permissions")))
                        .doesNotContain("dra4j_pending")
                        .containsPattern("dra4j_claim_list_failures_total\\{[^}]*} [1-9]")
                        .containsPattern(
                                "dra4j_missing_permissions_total\\{[^}]*verb=\"%s\"} [1-9]".formatted(right.verb()));
                assertThat(process.refused()).containsExactly(right.toString());
                assertThat(process.get("/readyz")).contains("no list of claims: ", right.verb());
            }
        }
    }

    /** A process of a chart's Deployment of claim metrics, with its own API server. */
    private static final class ClaimMetricsProcess implements AutoCloseable {

        private static final Pattern SERVING =
                Pattern.compile("Serving metrics and probes over HTTP.*address=\\S*:([0-9]+)");
        private static final Duration TIMEOUT = Duration.ofSeconds(60);
        private static final long LOOK_NANOS = 200_000_000;
        private static final int FORBIDDEN = 403;

        private final EmbeddedApiServer api = EmbeddedApiServer.builder().start();
        private final ApiProxy proxy = ApiProxy.before(api.url());
        private final Process process;
        private final int port;

        private ClaimMetricsProcess(Manifests manifests, List<String> program, Path folder) throws IOException {
            DriverContainer container = DriverContainer.ofClaimMetrics(manifests);
            String account =
                    manifests.one(Kind.Deployment).at("/metadata/namespace").asText()
                            + "/"
                            + container.pod().path("serviceAccountName").asText();
            Path rights = manifests.write(folder.resolve("manifests.yaml"));
            proxy.allowOnly(
                    new ServiceAccountAccess(
                            account,
                            List.of(rights.toString()),
                            container.environment().get("DRIVER_NAME"),
                            "1." + api.version().minor()),
                    "");
            List<String> command = new ArrayList<>(program);
            command.addAll(container.arguments());
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            builder.environment().putAll(container.environment());
            builder.environment()
                    .put(
                            "KUBECONFIG",
                            proxy.writeKubeconfig(folder.resolve("kubeconfig")).toString());
            builder.environment().put("HTTP_ENDPOINT", "127.0.0.1:0");
            process = builder.start();
            port = port(process);
        }

        /** Starts the process, and returns once it serves. */
        static ClaimMetricsProcess start(Manifests manifests, List<String> program, Path folder) throws IOException {
            return new ClaimMetricsProcess(manifests, program, folder);
        }

        private static int port(Process process) throws IOException {
            StringBuilder output = new StringBuilder();
            BufferedReader reader = process.inputReader();
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                Matcher serving = SERVING.matcher(line);
                if (serving.find()) {
                    Thread drain = new Thread(() -> reader.lines().forEach(rest -> {}), "output");
                    drain.setDaemon(true);
                    drain.start();
                    return Integer.parseInt(serving.group(1));
                }
                output.append(line).append('\n');
            }
            throw new AssertionError("It ended: " + output);
        }

        EmbeddedApiServer api() {
            return api;
        }

        String get(String path) throws IOException, InterruptedException {
            URI page = URI.create("http://127.0.0.1:" + port + path);
            HttpRequest request = HttpRequest.newBuilder(page).timeout(TIMEOUT).build();
            return HttpClient.newHttpClient()
                    .send(request, BodyHandlers.ofString())
                    .body();
        }

        /** Scrapes until the page satisfies a condition: a list may fail on a slow machine. */
        String awaitMetrics(Predicate<String> wanted) throws IOException, InterruptedException {
            long end = System.nanoTime() + TIMEOUT.toNanos();
            String page = get("/metrics");
            while (!wanted.test(page) && System.nanoTime() < end) {
                LockSupport.parkNanos(LOOK_NANOS);
                page = get("/metrics");
            }
            return page;
        }

        /** Returns the rights that the API server refused, as {@link Right} names them. */
        List<String> refused() {
            return proxy.requests(request -> request.status() == FORBIDDEN).stream()
                    .map(request -> ApiAction.of(request.method(), request.path(), request.query()))
                    .map(action -> action.group() + "/" + action.resource() + " " + action.verb())
                    .distinct()
                    .toList();
        }

        /** Ends it as the kubelet does, and returns its status. */
        int terminate() throws InterruptedException {
            process.destroy();
            if (!process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("It does not end");
            }
            return process.exitValue();
        }

        @Override
        public void close() {
            process.destroyForcibly();
            proxy.close();
            api.close();
        }
    }
}
