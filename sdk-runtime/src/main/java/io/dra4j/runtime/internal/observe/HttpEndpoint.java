// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves metrics and probes over HTTP.
 *
 * <ul>
 *   <li>{@code /healthz}: 200 as long as the process can respond and has no reason for a restart;
 *       otherwise 503, and the body has the reason. It depends on nothing else, the API server
 *       least of all: an outage of that must not restart drivers.
 *   <li>{@code /readyz}: 200 if nothing is missing; otherwise 503, and the body names what is. In
 *       either case it has notes for admins.
 *   <li>The path of the metrics, in the formats of Prometheus.
 * </ul>
 *
 * <p>Every request runs on a thread of its own, so that a client that hangs keeps no other waiting.
 * There are not more of them than a node can bear, and a request whose client takes longer than ten
 * seconds is given up.
 */
public final class HttpEndpoint implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(HttpEndpoint.class);
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final int BACKLOG = 1024; // a probe must not wait behind a flood of others
    private static final int MOST_THREADS = 256;
    private static final String LONGEST_SECONDS = "10";
    private static final String HEALTH = "/healthz";
    private static final String READINESS = "/readyz";

    static {
        // The JDK's server knows no other way to limit the time of its clients, and has no limit by
        // default.
        limit("sun.net.httpserver.maxReqTime");
        limit("sun.net.httpserver.maxRspTime");
    }

    private final HttpServer server;
    private final ExecutorService threads;
    private final PrometheusScrape scrape;

    private HttpEndpoint(HttpServer server, PrometheusScrape scrape) {
        this.server = server;
        this.scrape = scrape;
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(
                        MOST_THREADS,
                        MOST_THREADS,
                        10,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        HttpEndpoint::thread);
        pool.allowCoreThreadTimeOut(true);
        this.threads = pool;
        server.setExecutor(pool);
    }

    private static void limit(String property) {
        if (System.getProperty(property) == null) { // the host may know better
            System.setProperty(property, LONGEST_SECONDS);
        }
    }

    /**
     * The state that the probes report; each supplier returns at once, on any thread.
     *
     * @param restartReason why the process must be restarted; empty if it must not
     * @param missing the conditions that the driver lacks to be ready, a line each
     * @param notes what an admin should know, also of a driver that is ready, a line each
     */
    public record Probes(
            Supplier<Optional<String>> restartReason,
            Supplier<List<String>> missing,
            Supplier<List<String>> notes) {}

    /**
     * Begins to answer.
     *
     * @param address where to listen; port 0 for any that is free
     * @throws IOException if the address is in use, or not this machine's
     */
    public static HttpEndpoint start(
            InetSocketAddress address, String metricsPath, Meters meters, Probes probes)
            throws IOException {
        HttpServer server = HttpServer.create(address, BACKLOG);
        HttpEndpoint endpoint = new HttpEndpoint(server, new PrometheusScrape(meters.registry()));
        server.createContext("/", exchange -> respond(exchange, 404, "no such page\n"));
        endpoint.serve(HEALTH, exchange -> health(exchange, probes));
        endpoint.serve(READINESS, exchange -> readiness(exchange, probes));
        endpoint.serve(metricsPath, endpoint::metrics);
        server.start();
        LOG.atInfo()
                .addKeyValue(LogField.ADDRESS, server.getAddress())
                .log("Serving metrics and probes over HTTP");
        return endpoint;
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "dra4j-http");
        thread.setDaemon(true);
        return thread;
    }

    public InetSocketAddress address() {
        return server.getAddress();
    }

    /** The server matches paths by their beginning, and gives a page everything below it, too. */
    private void serve(String path, Page page) {
        server.createContext(
                path,
                exchange -> {
                    String method = exchange.getRequestMethod();
                    if (!exchange.getRequestURI().getPath().equals(path)) {
                        respond(exchange, 404, "no such page\n");
                    } else if (!method.equals("GET") && !method.equals("HEAD")) {
                        exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                        respond(exchange, 405, "only GET and HEAD\n");
                    } else {
                        page.respond(exchange);
                    }
                });
    }

    private static void health(HttpExchange exchange, Probes probes) throws IOException {
        Optional<String> reason = probes.restartReason().get();
        if (reason.isPresent()) {
            respond(exchange, 503, "restart needed: " + reason.get() + "\n");
        } else {
            respond(exchange, 200, "ok\n");
        }
    }

    private static void readiness(HttpExchange exchange, Probes probes) throws IOException {
        List<String> missing = probes.missing().get();
        List<String> lines = new ArrayList<>(List.of(missing.isEmpty() ? "ready" : "not ready"));
        lines.addAll(missing);
        lines.addAll(probes.notes().get());
        respond(exchange, missing.isEmpty() ? 200 : 503, String.join("\n", lines) + "\n");
    }

    private void metrics(HttpExchange exchange) throws IOException {
        PrometheusScrape.Page page = scrape.page(exchange.getRequestHeaders().getFirst("Accept"));
        send(exchange, 200, page.type(), page.body());
    }

    private static void respond(HttpExchange exchange, int status, String body) throws IOException {
        send(exchange, status, TEXT, body.getBytes(StandardCharsets.UTF_8));
    }

    private static void send(HttpExchange exchange, int status, String type, byte[] body)
            throws IOException {
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", type);
            boolean isHead = exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(status, isHead ? -1 : body.length);
            if (!isHead) {
                exchange.getResponseBody().write(body);
            }
        }
    }

    /** Stops at once: requests at the driver's end get no response. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdown();
        scrape.close();
    }

    @FunctionalInterface
    private interface Page {
        void respond(HttpExchange exchange) throws IOException;
    }
}
