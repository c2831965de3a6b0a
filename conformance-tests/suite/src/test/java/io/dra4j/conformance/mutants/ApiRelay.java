// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;

/** The way to the API server, on which bodies change and more is asked than the driver does. */
final class ApiRelay {

    private static final List<String> PASSED = List.of("Content-Type", "Accept", "Authorization");

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String server;
    private final Middle middle;

    private ApiRelay(String server, Middle middle) {
        this.server = server;
        this.middle = middle;
    }

    /** Starts one, and returns the kubeconfig for it. */
    static Path start(Settings settings, Middle middle) throws IOException {
        String server = settings.kubeconfig("server");
        HttpServer relay =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        relay.createContext("/", new ApiRelay(server, middle)::pass);
        relay.setExecutor(
                Executors.newCachedThreadPool(
                        work -> {
                            Thread thread = new Thread(work, "relay");
                            thread.setDaemon(true);
                            return thread;
                        }));
        relay.start();
        String own = "http://127.0.0.1:" + relay.getAddress().getPort();
        String given = Files.readString(Path.of(settings.text("--kubeconfig", "")));
        return Files.writeString(
                settings.data().resolve("kubeconfig" + relay.getAddress().getPort()),
                given.replace(server, own));
    }

    private void pass(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().toString();
            if (exchange.getRequestMethod().equals("GET")
                    && path.matches(".*/resourceclaims/[^/?]+")) {
                for (String more : middle.beforeClaim.apply(new String[] {path})) {
                    ask(exchange, more, new byte[0], "GET").body().close();
                }
            }
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (body.length > 0) {
                body = middle.toApi.apply(path, text(body)).getBytes(StandardCharsets.UTF_8);
            }
            answer(exchange, ask(exchange, path, body, exchange.getRequestMethod()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private HttpResponse<InputStream> ask(
            HttpExchange exchange, String path, byte[] body, String method)
            throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(server + path))
                        .method(method, BodyPublishers.ofByteArray(body));
        for (String name : PASSED) {
            String value = exchange.getRequestHeaders().getFirst(name);
            if (value != null) {
                request.header(name, value);
            }
        }
        return http.send(request.build(), BodyHandlers.ofInputStream());
    }

    private void answer(HttpExchange exchange, HttpResponse<InputStream> response)
            throws IOException {
        for (String name : List.of("Content-Type", "Retry-After")) {
            response.headers()
                    .firstValue(name)
                    .ifPresent(value -> exchange.getResponseHeaders().set(name, value));
        }
        exchange.sendResponseHeaders(response.statusCode(), 0);
        try (OutputStream out = exchange.getResponseBody();
                BufferedReader lines =
                        new BufferedReader(
                                new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            out.flush(); // the headers, too: newer JDKs keep them back for the body of a watch
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                out.write((middle.fromApi.apply(line) + "\n").getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        }
    }

    private static String text(byte[] body) {
        return new String(body, StandardCharsets.UTF_8);
    }
}
