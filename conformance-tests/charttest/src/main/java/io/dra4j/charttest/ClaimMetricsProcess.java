// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

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

/** A process of a chart's Deployment of metrics of claims, with an API server of its own. */
final class ClaimMetricsProcess implements AutoCloseable {

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
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
    }

    /** Scrapes again while the page is not as wanted: a list may fail on a machine that is slow. */
    String awaitMetrics(Predicate<String> wanted) throws IOException, InterruptedException {
        long end = System.nanoTime() + TIMEOUT.toNanos();
        String page = get("/metrics");
        while (!wanted.test(page) && System.nanoTime() < end) {
            LockSupport.parkNanos(LOOK_NANOS);
            page = get("/metrics");
        }
        return page;
    }

    /** Returns what the API server refused, as {@link Right} names it. */
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
