// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/** A real HTTP server that answers what a test has queued, and records the requests. */
final class ScriptedServer implements AutoCloseable {

    /** The requests. */
    record Request(String method, String path, String query, String userAgent, String accept, String body) {}

    /** Answers one request. */
    interface Answer {
        void to(HttpExchange exchange) throws IOException;
    }

    final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    ScriptedServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    Path kubeconfig(Path directory) throws IOException {
        return Files.writeString(directory.resolve("kubeconfig"), """
                apiVersion: v1
                kind: Config
                clusters: [{name: c, cluster: {server: "%s"}}]
                users: [{name: u, user: {token: secret}}]
                contexts: [{name: x, context: {cluster: c, user: u}}]
                current-context: x
                """.formatted(url()));
    }

    /** Queues an answer; once the queue is empty, requests get 404. */
    ScriptedServer then(Answer answer) {
        answers.add(answer);
        return this;
    }

    ScriptedServer then(int status, String body) {
        return then(exchange -> send(exchange, status, body));
    }

    /** Queues no answer at all, until the server is closed. */
    ScriptedServer thenHang() {
        return then(exchange -> awaitClose());
    }

    /** Queues a watch: some lines, then silence until the server is closed. */
    ScriptedServer thenStream(String... lines) {
        return then(exchange -> {
            stream(exchange, lines);
            awaitClose();
            exchange.close();
        });
    }

    /** Queues a watch whose connection ends after some lines. */
    ScriptedServer thenStreamAndEnd(String... lines) {
        return then(exchange -> {
            stream(exchange, lines);
            exchange.close();
        });
    }

    private static void stream(HttpExchange exchange, String... lines) throws IOException {
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, 0);
        OutputStream out = exchange.getResponseBody();
        for (String line : lines) {
            out.write((line.strip().replace("\n", "") + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        }
    }

    static void send(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private void handle(HttpExchange exchange) throws IOException {
        requests.add(new Request(
                exchange.getRequestMethod(),
                exchange.getRequestURI().getPath(),
                String.valueOf(exchange.getRequestURI().getQuery()),
                exchange.getRequestHeaders().getFirst("User-Agent"),
                exchange.getRequestHeaders().getFirst("Accept"),
                new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
        Answer answer = answers.poll();
        if (answer == null) {
            send(exchange, 404, "{\"kind\":\"Status\",\"message\":\"nothing queued\"}");
        } else {
            answer.to(exchange);
        }
    }

    private void awaitClose() {
        try {
            closed.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
        threads.shutdownNow();
    }
}
