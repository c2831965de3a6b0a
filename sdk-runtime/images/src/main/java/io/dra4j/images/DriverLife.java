// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.probes.Held;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.driver.MountNamespace;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.driver.ProcessSettings;
import io.dra4j.testkit.kubelet.GrpcProbe;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The lifecycle of a driver on a test kit node: registration, publishing, a claim, a kill in tests, SIGTERM. */
final class DriverLife {

    private static final String KILLED = "after a SIGKILL and a new start";
    private static final Duration LONG_ENOUGH = Duration.ofSeconds(12);
    private static final int SEVERAL = 8;
    private static final Duration START = Duration.ofMinutes(5);

    /** As the charts' pods have it. */
    private static final Map<String, String> POD =
            Map.of("HTTP_ENDPOINT", "127.0.0.1:{FREE_PORT}", "HEALTHCHECK_PORT", "0");

    private static final Duration PAGE_LIMIT = Duration.ofSeconds(60);
    private static final List<String> PAGES = List.of("/startupz", "/readyz", "/metrics");
    private static final String PROMETHEUS =
            "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";

    /** The factor allows for a recording JVM, which takes seconds to write its data at the end. */
    private static final String SETTINGS = "{driver: {name: %s, process: {command: [given]}}, timeoutFactor: 6}";

    private DriverLife() {}

    /** Runs a driver, kills it while a claim is prepared and checked, and returns its log once it has ended. */
    static String run(String driver, List<String> command, Consumer<TestContext> prepared) {
        return run(driver, new ProcessDriver(command, Map.of(), START), context -> {
            Held held = Held.prepared(context);
            prepared.accept(context);
            context.driver().restartAfterKill();
            context.awaitPools();
            held.resolves(KILLED);
            held.isRemembered(KILLED);
            held.repeats(KILLED);
            held.isReleased(KILLED);
        });
    }

    /**
     * Runs as in a pod of the charts, with probes and metrics, and with a service account and TLS if this process may
     * create mount namespaces. A driver that finds no device on this machine prepares no claim.
     */
    static void runInCluster(String driver, List<String> command) {
        boolean inCluster = MountNamespace.missing().isEmpty();
        ProcessSettings settings = new ProcessSettings(command, POD, false, inCluster, List.of());
        run(driver, new ProcessDriver(settings, List.of(), START), DriverLife::repeat);
    }

    /** Prepares one claim and several in turn, until the tasks that run every ten seconds have also run. */
    private static void repeat(TestContext context) {
        probe(context);
        if (context.devices().usable().isEmpty()) {
            return;
        }
        KubeletClaim first = context.preparedClaim(context.devices().one());
        KubeletClaim[] claims = context.devices().usable().stream()
                .skip(1) // has a claim already
                .limit(SEVERAL)
                .map(context.claims()::allocate)
                .toArray(KubeletClaim[]::new);
        long begin = System.nanoTime();
        for (int size = 1; System.nanoTime() - begin < LONG_ENOUGH.toNanos(); size = claims.length + 1 - size) {
            KubeletClaim[] some = Arrays.copyOf(claims, Math.min(size, claims.length));
            context.calls().prepare(some);
            context.calls().unprepare(some);
        }
        probe(context);
        context.calls().unprepared(first);
    }

    /** Does what the kubelet's probes and Prometheus do. A driver with its own main class may serve neither. */
    private static void probe(TestContext context) {
        GrpcProbe.ofLog(context.driver().log()).ifPresent(probe -> {
            try (probe) {
                probe.check("liveness");
            }
        });
        HttpClient client = HttpClient.newHttpClient();
        for (String page : PAGES) {
            URI url = URI.create(context.driver().fill("http://127.0.0.1:{FREE_PORT}" + page));
            try {
                client.send(
                        HttpRequest.newBuilder(url)
                                .header("Accept", PROMETHEUS)
                                .timeout(PAGE_LIMIT)
                                .build(),
                        BodyHandlers.discarding());
            } catch (IOException e) {
                System.out.println("The AOT cache has no classes for probes and metrics: " + url + ": " + e);
                return;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ImageBuildException("Interrupted while the driver was probed", e);
            }
        }
    }

    private static String run(String driver, ProcessDriver process, Consumer<TestContext> calls) {
        try (TestContext context = TestContext.open(
                SettingsReader.parse(SETTINGS.formatted(driver), "images", Map.of()), process, "images")) {
            context.driver().start();
            context.awaitPools();
            calls.accept(context);
            int status = context.driver().terminate();
            String log = context.driver().log();
            if (status != 0) {
                throw new ImageBuildException(
                        "The driver %s ended with status %d after SIGTERM: %s".formatted(driver, status, log));
            }
            return log;
        }
    }
}
