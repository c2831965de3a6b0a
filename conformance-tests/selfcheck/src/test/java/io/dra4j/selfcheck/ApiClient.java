// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.dra4j.testkit.cluster.TestKeys;
import io.grpc.Context;
import io.grpc.Deadline;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The API server over HTTP/1.1, by TLS where it has a CA, and in JSON. */
class ApiClient {

    static final String RESOURCE = "/apis/resource.k8s.io/v1";
    static final String SLICES = RESOURCE + "/resourceslices";

    private static final Duration LONGEST = Duration.ofSeconds(20);

    private static final Map<String, HttpClient> CLIENTS = new ConcurrentHashMap<>(); // by the CA in PEM

    private final String server;
    private final Path authority;
    private final Path token;

    ApiClient() {
        this(
                Parts.driver().settings.kubeconfig("server"),
                Parts.driver().settings.fileOfKubeconfig("certificate-authority"),
                Parts.driver().settings.fileOfKubeconfig("tokenFile"));
    }

    ApiClient(String server, Path authority, Path token) {
        this.server = server;
        this.authority = authority;
        this.token = token;
    }

    /** An answer that is not a success; status 0 is none at all. */
    static final class Failed extends RuntimeException {

        private static final long serialVersionUID = 1L;
        final int status;
        final transient Duration retryAfter;

        Failed(int status, String message, Duration retryAfter) {
            super(message);
            this.status = status;
            this.retryAfter = retryAfter;
        }
    }

    String token() {
        return read(token);
    }

    /** The CA in PEM as it is now; empty without TLS. */
    String authority() {
        return read(authority);
    }

    private static String read(Path file) {
        try {
            return Files.isRegularFile(file) ? Files.readString(file) : "";
        } catch (IOException e) {
            throw new Failed(0, "A file can't be read: " + e, Duration.ZERO);
        }
    }

    private HttpClient http() {
        return CLIENTS.computeIfAbsent(authority(), ApiClient::trusting);
    }

    private static HttpClient trusting(String authority) {
        HttpClient.Builder client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(3));
        try {
            return authority.isEmpty()
                    ? client.build()
                    : client.sslContext(TestKeys.clientOf(authority)).build();
        } catch (GeneralSecurityException | IOException e) {
            throw new Failed(0, "The CA can't be used: " + e, Duration.ZERO);
        }
    }

    static String claim(ClaimId id) {
        return RESOURCE + "/namespaces/" + id.namespace() + "/resourceclaims/" + id.name();
    }

    JsonNode get(String path) {
        return send(request(path, limit()).GET().build());
    }

    JsonNode delete(String path) {
        return send(request(path, limit()).DELETE().build());
    }

    JsonNode write(String method, String path, String type, JsonNode body) {
        return write(method, path, type, body.toString().getBytes(StandardCharsets.UTF_8));
    }

    JsonNode write(String method, String path, String type, byte[] body) {
        return send(request(path, limit())
                .header("Content-Type", type)
                .method(method, BodyPublishers.ofByteArray(body))
                .build());
    }

    JsonNode post(String path, JsonNode body) {
        return write("POST", path, "application/json", body);
    }

    JsonNode put(String path, JsonNode body) {
        return write("PUT", path, "application/json", body);
    }

    /** Opens a stream of lines that ends when the server ends it. */
    InputStream open(String path) throws IOException, InterruptedException {
        HttpResponse<InputStream> response =
                http().send(request(path, LONGEST).GET().build(), BodyHandlers.ofInputStream());
        if (response.statusCode() != 200) {
            response.body().close();
            throw new IOException("watch: " + response.statusCode());
        }
        Life.current().closesAtEnd(response.body());
        return response.body();
    }

    String accept() {
        return "application/json";
    }

    private HttpRequest.Builder request(String path, Duration timeout) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server + path))
                .timeout(timeout)
                .header("Accept", accept());
        String bearer = token();
        return bearer.isEmpty() ? request : request.header("Authorization", "Bearer " + bearer);
    }

    /** The kubelet's timeout, for work that the kubelet waits for. */
    private static Duration limit() {
        Deadline deadline = Context.current().getDeadline();
        if (deadline == null) {
            return LONGEST;
        }
        long left = deadline.timeRemaining(TimeUnit.MILLISECONDS) - 100;
        return Duration.ofMillis(Math.max(1, Math.min(left, LONGEST.toMillis())));
    }

    private JsonNode send(HttpRequest request) {
        HttpResponse<byte[]> response;
        Life.current().check();
        try {
            response = http().send(request, BodyHandlers.ofByteArray());
        } catch (IOException e) {
            throw new Failed(0, request.method() + " failed: " + e, Duration.ZERO);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            Life.current().check();
            throw new Failed(0, request.method() + " was interrupted", Duration.ZERO);
        }
        JsonNode body = tree(response.body());
        if (response.statusCode() / 100 != 2) {
            long wait = response.headers().firstValueAsLong("Retry-After").orElse(0);
            throw new Failed(
                    response.statusCode(),
                    request.method() + " failed: " + response.statusCode() + " " + message(body),
                    Duration.ofSeconds(wait));
        }
        return body;
    }

    private static String message(JsonNode body) {
        String text = body.path("message").asText();
        return text.substring(0, Math.min(500, text.length()));
    }

    JsonNode tree(byte[] body) {
        try {
            return Json.read(new String(body, StandardCharsets.UTF_8));
        } catch (IOException e) {
            return MissingNode.getInstance();
        }
    }
}
