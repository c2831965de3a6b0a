// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.doctor.cluster.ClusterApi.Answer;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Requests to the API server: one attempt each, within a time limit.
 *
 * <p>They go through fabric8's HTTP client, which brings TLS, credentials and the user agent, and
 * carry JSON as it is: fabric8's models would know the fields of one Kubernetes release only.
 */
final class ApiCalls {

    private static final String NO_ANSWER = "none";
    private static final String WATCH = "WATCH";
    private static final String JSON = "application/json";
    private static final String APPLY = "application/apply-patch+yaml"; // JSON is YAML
    private static final int FORBIDDEN = 403;

    /** Also for verbs of {@code resourceclaims/driver}, which are asked for by a validation. */
    private static final int INVALID = 422;

    private static final int LONGEST_STATUS = 64 * 1024;
    private static final int LONGEST_RETRY_AFTER_SECONDS = 3600;

    private final HttpClient http;
    private final String server;
    private final Meters meters;
    private final MissingPermissions permissions;

    ApiCalls(HttpClient http, String server, Meters meters) {
        this.http = http;
        this.meters = meters;
        this.permissions = new MissingPermissions(meters);
        this.server = server.endsWith("/") ? server : server + "/";
    }

    String server() {
        return server;
    }

    String read(String path, Duration limit) {
        return send("GET", path, null, limit);
    }

    /** Server-side apply: the body is what the field manager of the path's query wants. */
    String apply(String path, JsonNode body, Duration limit) {
        return send("PATCH", path, APPLY, body, limit);
    }

    String send(String method, String path, @Nullable JsonNode body, Duration limit) {
        return send(method, path, JSON, body, limit);
    }

    private String send(String method, String path, String type, @Nullable JsonNode body, Duration limit) {
        HttpResponse<String> response = exchange(method, path, type, body, limit);
        if (!response.isSuccessful()) {
            throw failure(method + " " + path, response, status(response.body()));
        }
        return response.body() == null ? "" : response.body();
    }

    /** Sends a request of which each answer counts, whatever its status. */
    Answer answer(String method, String path, @Nullable JsonNode body, Duration limit) {
        HttpResponse<String> response = exchange(method, path, JSON, body, limit);
        return new Answer(response.code(), status(response.body()), date(response));
    }

    private static @Nullable Instant date(HttpResponse<?> response) {
        String date = response.header("Date");
        try {
            return date == null ? null : DateTimeFormatter.RFC_1123_DATE_TIME.parse(date, Instant::from);
        } catch (DateTimeParseException e) {
            return null; // of a proxy
        }
    }

    private HttpResponse<String> exchange(
            String method, String path, String type, @Nullable JsonNode body, Duration limit) {
        HttpRequest.Builder request = http.newHttpRequestBuilder()
                .uri(server + path)
                .header("Accept", JSON)
                .method(method, type, body == null ? null : body.toString());
        return await(() -> http.sendAsync(request.build(), String.class), method, path, limit);
    }

    /**
     * Reads the objects of a list, of any length: each is handed on before the next is read.
     *
     * @param limit for all of the answer
     */
    void list(String path, Consumer<JsonNode> item, Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        HttpRequest request = http.newHttpRequestBuilder()
                .uri(server + path)
                .header("Accept", JSON)
                .build();
        HttpResponse<InputStream> response =
                await(() -> http.sendAsync(request, InputStream.class), "GET", path, limit);
        String what = "GET " + path;
        try (InputStream body = TimedStream.of(response.body(), end - System.nanoTime())) {
            if (!response.isSuccessful()) {
                byte[] reason = body.readNBytes(LONGEST_STATUS);
                throw failure(what, response, status(new String(reason, StandardCharsets.UTF_8)));
            }
            Json.items(body, item);
        } catch (IllegalArgumentException | JsonProcessingException e) {
            throw new ClusterException(
                    "The API server's answer to %s is no list: %s".formatted(what, e.getMessage()),
                    response.code(),
                    null);
        } catch (IOException e) {
            throw System.nanoTime() >= end ? late(what, limit, e) : lost(what, e);
        }
    }

    /** Starts a watch, and returns as soon as the server has begun with its response. */
    <T> Watch watch(String path, Function<JsonNode, Optional<T>> decode, Watch.Listener<T> listener, Duration limit) {
        ApiWatch<T> watch = new ApiWatch<>(decode, listener);
        HttpRequest.Builder request = http.newHttpRequestBuilder()
                .uri(server + path)
                .header("Accept", JSON)
                .forStreaming();
        HttpResponse<AsyncBody> response =
                await(() -> http.consumeBytes(request.build(), watch::take), WATCH, path, limit);
        if (!response.isSuccessful()) {
            response.body().cancel();
            throw failure("GET " + path, response, watchRefusal(path));
        }
        watch.begin(response.body());
        return watch;
    }

    /** The body of a refused watch is not read, and only RBAC refuses one with 403. */
    private static JsonNode watchRefusal(String path) {
        String group = path.startsWith("apis/") ? path.split("/", 3)[1] : "";
        return Json.object().put("message", MissingPermissions.message("watch", resource(path), group));
    }

    private static <T> CompletableFuture<T> begin(Supplier<CompletableFuture<T>> request) {
        try {
            return request.get();
        } catch (UncheckedIOException | KubernetesClientException e) {
            // The credentials can't be read; a token file is there again soon.
            return CompletableFuture.failedFuture(e);
        }
    }

    private <T extends HttpResponse<?>> T await(
            Supplier<CompletableFuture<T>> request, String method, String path, Duration limit) {
        long start = System.nanoTime();
        try {
            T response = await(begin(request), method + " " + path, limit);
            measure(method, path, Integer.toString(response.code()), start);
            return response;
        } catch (ClusterException e) {
            measure(method, path, NO_ANSWER, start);
            throw e;
        }
    }

    /** Measures a request by method, resource and status: never by an object's name. */
    private void measure(String method, String path, String status, long sinceNanos) {
        Duration took = Duration.ofNanos(System.nanoTime() - sinceNanos);
        meters.time(Metric.API_REQUESTS, took, method, resource(path), status);
    }

    /**
     * {@code api/v1/nodes/n} is of nodes, and {@code ../resourceclaims/c/status} of their status.
     */
    static String resource(String path) {
        String[] all = path.split("\\?", 2)[0].split("/");
        int resource = all[0].equals("api") ? 2 : 3;
        if (all.length <= resource) {
            return "discovery";
        }
        if (all[resource].equals("namespaces") && all.length > resource + 2) {
            resource += 2;
        }
        return all.length > resource + 2 ? all[resource] + "/" + all[resource + 2] : all[resource];
    }

    private <T> T await(CompletableFuture<T> response, String what, Duration limit) {
        try {
            return response.get(Math.max(1, limit.toMillis()), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            response.cancel(true);
            throw late(what, limit, e);
        } catch (ExecutionException e) {
            throw lost(what, e.getCause());
        } catch (InterruptedException e) {
            response.cancel(true);
            Thread.currentThread().interrupt();
            throw new ClusterException("Interrupted while waiting for the API server: " + what, e);
        }
    }

    private static ClusterException late(String what, Duration limit, Exception cause) {
        return new ClusterException(
                "The API server did not answer within %s: %s".formatted(TransientRetry.seconds(limit), what), cause);
    }

    private ClusterException lost(String what, @Nullable Throwable cause) {
        return new ClusterException(
                "No answer from the API server %s to %s: %s. Is the address in the kubeconfig right, and may this process connect to it?"
                        .formatted(server, what, reason(cause)),
                cause);
    }

    /** Many failures of a connection have no message of their own, or only their cause has one. */
    private static String reason(@Nullable Throwable failure) {
        for (Throwable e = failure; e != null; e = e.getCause()) {
            if (e.getMessage() != null && !e.getMessage().isBlank()) {
                return e.getMessage();
            }
        }
        return failure instanceof ConnectException ? "the connection was refused" : String.valueOf(failure);
    }

    private ClusterException failure(String what, HttpResponse<?> response, JsonNode status) {
        String reason = status.path("message").asText("");
        String message = "The API server answered %s%s: %s"
                .formatted(response.code(), (reason.isEmpty() ? "" : " (" + reason + ")"), what);
        if (response.code() == 404) {
            boolean named = !status.path("details").path("name").asText("").isEmpty();
            return new ClusterException.NotFound(
                    message, named && status.path("reason").asText().equals("NotFound"));
        }
        if (response.code() == FORBIDDEN || response.code() == INVALID) {
            Optional<ClusterException.Forbidden> refused = permissions.refused(message, reason);
            if (refused.isPresent()) {
                return refused.get();
            }
        }
        return new ClusterException(message, response.code(), retryAfter(response));
    }

    /** A Kubernetes Status; a proxy between may respond with something else. */
    private static JsonNode status(@Nullable String body) {
        try {
            return body == null ? Json.object() : Json.parse(body);
        } catch (IllegalArgumentException e) {
            return Json.object();
        }
    }

    private static @Nullable Duration retryAfter(HttpResponse<?> response) {
        String seconds = response.header("Retry-After");
        // The other form of the header, a date, is not used by API servers.
        return seconds != null && seconds.matches("[0-9]{1,9}")
                ? Duration.ofSeconds(Math.min(LONGEST_RETRY_AFTER_SECONDS, Integer.parseInt(seconds)))
                : null;
    }
}
