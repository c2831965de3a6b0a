// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server of a few pages, over HTTP or HTTPS.
 *
 * <p>Every request runs on its own thread, so that a client that hangs delays no other. Their number is limited, and a
 * request whose client takes longer than half a minute is aborted.
 *
 * <p>Other limits are properties that the JDK reads once: they have no effect in a process that has already used its
 * server.
 */
public final class HttpPages implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(HttpPages.class);
    private static final int BACKLOG = 1024; // a probe must not wait behind a flood of connections
    private static final int MOST_THREADS = 256;
    private static final Duration LONGEST = Duration.ofSeconds(30); // API servers wait no longer
    private static final String LONGEST_IDLE_SECONDS = "120";
    private static final int MOST_CONNECTIONS = 1024;
    private static final int TLS_CONNECTION_BYTES = 128 * 1024; // its buffers, while it is open

    static {
        // It writes head and body apart: with Nagle's algorithm, the body waits for the client's
        // delayed acknowledgement, 40 ms.
        set("sun.net.httpserver.nodelay", "true");
        // One thread hands out all requests; beyond this number it closes connections after use.
        set("sun.net.httpserver.maxIdleConnections", String.valueOf(MOST_CONNECTIONS));
        // Whoever closes an idle connection may cut off a request that is on its way, which is harmless only if the
        // client does it. API servers do it after 90 s.
        set("sun.net.httpserver.idleInterval", LONGEST_IDLE_SECONDS);
    }

    /** Answers requests that have passed all checks, on any thread. */
    @FunctionalInterface
    public interface Page {

        /**
         * Answers a request.
         *
         * @param accept the media types that the client prefers; empty for any
         * @param body the document; empty if the page takes none
         * @throws IOException if the connection should be closed without an answer
         */
        HttpAnswer answer(String accept, byte[] body) throws IOException;
    }

    private final HttpServer server;
    private final ExecutorService threads;

    private HttpPages(HttpServer server, Duration longest) {
        this.server = server;
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                MOST_THREADS, MOST_THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), HttpPages::thread);
        pool.allowCoreThreadTimeOut(true);
        this.threads = pool;
        server.setExecutor(request -> {
            long end = System.nanoTime() + longest.toNanos();
            pool.execute(() -> run(request, end));
        });
        server.createContext("/", exchange -> send(exchange, HttpAnswer.text(404, "no such page")));
    }

    private static void set(String property, String value) {
        if (System.getProperty(property) == null) { // the host may know better
            System.setProperty(property, value);
        }
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "dra4j-http");
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Runs a request, and interrupts it at the end of its time, which closes its connection. The JDK's server could do so
     * as well, with a thread that wakes up every second.
     */
    private static void run(Runnable request, long end) {
        Limit limit = new Limit(Thread.currentThread());
        CompletableFuture<Void> timeout = ShortLivedThreads.after(end - System.nanoTime());
        timeout.thenRun(limit::exceed);
        try {
            request.run();
        } catch (Error e) { // the server would leave its connection open
            LOG.atError().setCause(e).log("A request failed; its connection is closed");
            Thread.currentThread().interrupt(); // which closes a connection that is read or written
            request.run();
        } finally {
            timeout.cancel(false);
            limit.end();
        }
    }

    /** Interrupts the thread of a request, but not once it has another one. Thread-safe. */
    private static final class Limit {

        private @Nullable Thread thread; // guarded by this

        Limit(Thread thread) {
            this.thread = thread;
        }

        synchronized void exceed() {
            if (thread != null) {
                thread.interrupt();
            }
        }

        synchronized void end() {
            thread = null;
            Thread.interrupted();
        }
    }

    /**
     * Binds an address for HTTP; pages are served once {@link #start} is called.
     *
     * @param address where to listen; port 0 for any that is free
     * @throws IOException if the address is in use, or not this machine's
     */
    public static HttpPages bind(InetSocketAddress address) throws IOException {
        return bind(address, LONGEST);
    }

    /** Binds an address for HTTP, with another limit of a request's time. */
    static HttpPages bind(InetSocketAddress address, Duration longest) throws IOException {
        return new HttpPages(HttpServer.create(address, BACKLOG), longest);
    }

    /**
     * Binds an address for HTTPS. A third of the heap is for connections: one for which there is no room is closed
     * immediately, because a server that is out of memory would not answer any.
     *
     * @param address where to listen; port 0 for any that is free
     * @param tls the server's certificate
     * @throws IOException if the address is in use, or not this machine's
     */
    public static HttpPages bind(InetSocketAddress address, SSLContext tls) throws IOException {
        set("jdk.httpserver.maxConnections", String.valueOf(mostConnections()));
        HttpsServer server = HttpsServer.create(address, BACKLOG);
        server.setHttpsConfigurator(new HttpsConfigurator(tls));
        return new HttpPages(server, LONGEST);
    }

    private static long mostConnections() {
        long room = Runtime.getRuntime().maxMemory() / 3 / TLS_CONNECTION_BYTES;
        return Math.max(1, Math.min(MOST_CONNECTIONS, room));
    }

    /** Adds a read-only page. The server matches paths by prefix, but this page only exactly. */
    public HttpPages get(String path, Page page) {
        return add(path, page, 0, "GET", "HEAD");
    }

    /**
     * Adds a page that takes a JSON document.
     *
     * @param longest the maximum size of the document, in bytes
     */
    public HttpPages postJson(String path, int longest, Page page) {
        return add(path, page, longest, "POST");
    }

    private HttpPages add(String path, Page page, int longest, String... methods) {
        Request request = new Request(path, longest, List.of(methods));
        server.createContext(path, exchange -> send(exchange, answer(request, page, exchange)));
        return this;
    }

    private static HttpAnswer answer(Request request, Page page, HttpExchange exchange) throws IOException {
        try {
            return request.answer(exchange, page);
        } catch (RuntimeException | Error e) { // of an error, the client would see only that nothing comes
            LOG.atError().setCause(e).log("A request can't be answered");
            return HttpAnswer.text(500, "failed; see the log");
        }
    }

    public HttpPages start() {
        server.start();
        return this;
    }

    public InetSocketAddress address() {
        return server.getAddress();
    }

    private static void send(HttpExchange exchange, HttpAnswer answer) throws IOException {
        try (exchange) {
            answer.headers().forEach(exchange.getResponseHeaders()::set);
            byte[] body = answer.body();
            boolean isHead = exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(answer.status(), isHead ? -1 : body.length);
            if (!isHead) {
                exchange.getResponseBody().write(body);
            }
        }
    }

    /** Stops immediately: requests in progress get no response. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdown();
    }

    /**
     * The requests that a page accepts: its path, methods, and the size of its documents.
     *
     * @param longest the maximum size of a document, in bytes; 0 for a page without one
     */
    private record Request(String path, int longest, List<String> methods) {

        private static final String JSON = "application/json";

        /** Returns the answer of the page, or the reason why the page is not called. */
        HttpAnswer answer(HttpExchange exchange, Page page) throws IOException {
            HttpAnswer refusal = refusal(exchange);
            if (refusal != null) {
                return refusal;
            }
            Headers headers = exchange.getRequestHeaders();
            String accept = headers.getFirst("Accept");
            byte[] body = longest == 0 ? new byte[0] : exchange.getRequestBody().readNBytes(longest + 1);
            return body.length > longest
                    ? tooLarge(exchange.getRequestBody())
                    : page.answer(accept == null ? "" : accept, body);
        }

        private @Nullable HttpAnswer refusal(HttpExchange exchange) throws IOException {
            if (!exchange.getRequestURI().getPath().equals(path)) {
                return HttpAnswer.text(404, "no such page");
            }
            if (!methods.contains(exchange.getRequestMethod())) {
                String allowed = String.join(", ", methods);
                return HttpAnswer.text(405, "only " + String.join(" and ", methods))
                        .allowing(allowed);
            }
            Headers headers = exchange.getRequestHeaders();
            if (longest > 0 && !isJson(headers.getFirst("Content-Type"))) {
                return HttpAnswer.text(415, "the Content-Type must be " + JSON);
            }
            return null;
        }

        private static boolean isJson(@Nullable String contentType) {
            return contentType != null
                    && contentType
                            .split(";", 2)[0]
                            .strip()
                            .toLowerCase(Locale.ROOT)
                            .equals(JSON);
        }

        /** A client that still sends when the connection is closed may never see the answer. */
        private HttpAnswer tooLarge(InputStream rest) throws IOException {
            rest.transferTo(OutputStream.nullOutputStream());
            return HttpAnswer.text(413, "the document has more than " + longest + " bytes");
        }
    }

    /** A response: its status, headers and body. */
    public record HttpAnswer(int status, Map<String, String> headers, byte[] body) {

        private static final String TYPE = "Content-Type";

        public HttpAnswer {
            headers = Map.copyOf(headers);
        }

        public static HttpAnswer of(int status, String type, byte[] body) {
            return new HttpAnswer(status, Map.of(TYPE, type), body);
        }

        /** Returns one line or more for people; the line's end is added. */
        public static HttpAnswer text(int status, String text) {
            return of(status, "text/plain; charset=utf-8", (text + "\n").getBytes(StandardCharsets.UTF_8));
        }

        HttpAnswer allowing(String methods) {
            return new HttpAnswer(status, Map.of(TYPE, headers.getOrDefault(TYPE, ""), "Allow", methods), body);
        }
    }
}
