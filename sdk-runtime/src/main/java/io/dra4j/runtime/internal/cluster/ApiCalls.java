// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.doctor.cluster.ClusterApi.Answer;
import io.dra4j.rules.Release;
import io.dra4j.runtime.internal.cluster.ApiClient.Sent;
import io.dra4j.runtime.internal.cluster.ApiConnections.Response;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * Requests to the API server: one attempt each, within a time limit.
 *
 * <p>They carry plain JSON: models would know the fields of only one Kubernetes release. An attempt is repeated if one
 * side refuses the other and new credentials are available.
 */
final class ApiCalls {

    private static final String NO_ANSWER = "none";
    private static final String WATCH = "WATCH";
    private static final String JSON = "application/json";

    /** From 1.38 on a server with the gate ManagedFieldsOptOut leaves them out (#139561); others ignore the parameter. */
    private static final String UNMANAGED = JSON + ";drop=metadata.managedFields," + JSON;

    private static final String APPLY = "application/apply-patch+yaml"; // JSON is YAML
    private static final int OK = 200;
    private static final int UNAUTHORIZED = 401;

    /** A request that had less time than this, or less than half of its limit, says nothing about its connection. */
    private static final long SHORTEST_SILENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    private static final int FORBIDDEN = 403;

    /** Also for missing verbs of {@code resourceclaims/driver}, which a validation checks. */
    private static final int INVALID = 422;

    private static final int LONGEST_STATUS = 64 * 1024;
    private static final int LONGEST_RETRY_AFTER_SECONDS = 3600;

    /** Each request has its own connection, and an API server has thousands of nodes. */
    private static final int MOST_AT_ONCE = 8;

    private final ApiClient client;
    private final Meters meters;
    private final MissingPermissions permissions;
    private final ServerVersion version;
    private final Semaphore places = new Semaphore(MOST_AT_ONCE, true);

    ApiCalls(ApiClient client, Meters meters) {
        this.client = client;
        this.meters = meters;
        this.permissions = new MissingPermissions(meters);
        this.version = new ServerVersion(meters);
    }

    String server() {
        return client.server();
    }

    /** Reads the server's release; empty if it does not report it. */
    Optional<Release> release(Duration limit) {
        return version.read(read("version", limit));
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
        return successful(method + " " + path, exchange(method, path, type, body, limit));
    }

    private String successful(String what, Response<String> response) {
        if (!isSuccessful(response)) {
            throw failure(what, response, status(response.body()));
        }
        return response.body() == null ? "" : response.body();
    }

    /** Sends a request and accepts an answer of any status. */
    Answer answer(String method, String path, @Nullable JsonNode body, Duration limit) {
        Response<String> response = exchange(method, path, JSON, body, limit);
        return new Answer(response.statusCode(), status(response.body()), date(response));
    }

    /** Reads an answer; an intermediate proxy may answer with something else. */
    static <A, T> T understood(String otherwise, A answer, Function<A, T> read) {
        try {
            return read.apply(answer);
        } catch (IllegalArgumentException e) {
            throw new ClusterException("The API server's answer is " + otherwise + ": " + e.getMessage(), OK, null);
        }
    }

    private static @Nullable Instant date(Response<?> response) {
        String date = header(response, "Date");
        try {
            return date == null ? null : DateTimeFormatter.RFC_1123_DATE_TIME.parse(date, Instant::from);
        } catch (DateTimeParseException e) {
            return null; // of a proxy
        }
    }

    private static @Nullable String header(Response<?> response, String name) {
        return response.headers().firstValue(name).orElse(null);
    }

    private static boolean isSuccessful(Response<?> response) {
        return response.statusCode() / 100 == 2;
    }

    private Response<String> exchange(
            String method, String path, String type, @Nullable JsonNode body, Duration limit) {
        BodyPublisher content = body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body.toString());
        Call<String> call = connections -> connections.send(
                path,
                request -> (body == null ? request : request.header("Content-Type", type)).method(method, content),
                BodyHandlers.ofString());
        return await(call, method, path, limit);
    }

    /**
     * Reads the objects of a list of any length, passing on each before reading the next, without their managed fields
     * if the server can leave them out.
     *
     * @param limit for the whole answer
     * @return the list's metadata
     */
    JsonNode list(String path, Consumer<JsonNode> item, Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        Sent<InputStream> sent = answered(get(path, BodyHandlers.ofInputStream()), "GET", path, limit);
        Response<InputStream> response = sent.response().join();
        String what = "GET " + path;
        CompletableFuture<Void> timeout = ShortLivedThreads.after(end - System.nanoTime());
        timeout.thenRun(() -> discard(response)); // which ends a read that waits for more
        try (InputStream body = response.body()) {
            if (!isSuccessful(response)) {
                byte[] reason = body.readNBytes(LONGEST_STATUS);
                throw failure(what, response, status(new String(reason, StandardCharsets.UTF_8)));
            }
            return Json.items(body, item);
        } catch (IllegalArgumentException | JsonProcessingException e) {
            throw new ClusterException(
                    "The API server's answer to %s is not a list: %s".formatted(what, e.getMessage()),
                    response.statusCode(),
                    null);
        } catch (IOException e) {
            if (System.nanoTime() < end) {
                throw lost(what, e);
            }
            client.unanswered(sent);
            throw late(what, limit, e);
        } finally {
            timeout.cancel(false);
        }
    }

    /** Starts a watch, and returns as soon as the server has begun its response. */
    <T> Watch watch(String path, Function<JsonNode, Optional<T>> decode, Watch.Listener<T> listener, Duration limit) {
        ApiWatch<T> watch = new ApiWatch<>(decode, listener);
        BodyHandler<@Nullable ApiWatch<T>> body =
                response -> response.statusCode() == OK ? watch : BodySubscribers.replacing(null);
        Sent<@Nullable ApiWatch<T>> sent = answered(get(path, body), WATCH, path, limit);
        Response<@Nullable ApiWatch<T>> response = sent.response().join();
        if (response.body() == null) {
            boolean isRefused = response.statusCode() == FORBIDDEN;
            throw failure("GET " + path, response, isRefused ? watchRefusal(path) : Json.object());
        }
        sent.connections().add(watch);
        return watch;
    }

    private static <T> Call<T> get(String path, BodyHandler<T> body) {
        return connections -> connections.send(path, request -> request.setHeader("Accept", UNMANAGED), body);
    }

    /** The body of a refused watch is not read, and only RBAC refuses one with 403. */
    private static JsonNode watchRefusal(String path) {
        String group = path.startsWith("apis/") ? path.split("/", 3)[1] : "";
        return Json.object().put("message", MissingPermissions.message("watch", resource(path), group));
    }

    /** Sends a request on connections. */
    private interface Call<T> extends Function<ApiConnections, CompletableFuture<Response<T>>> {}

    private <T> Response<T> await(Call<T> call, String method, String path, Duration limit) {
        return answered(call, method, path, limit).response().join();
    }

    private <T> Sent<T> answered(Call<T> call, String method, String path, Duration limit) {
        long start = System.nanoTime();
        String status = NO_ANSWER;
        try {
            Sent<T> answered = inPlace(call, method + " " + path, limit);
            status = Integer.toString(answered.response().join().statusCode());
            return answered;
        } finally {
            measure(method, path, status, start);
        }
    }

    private <T> Sent<T> inPlace(Call<T> call, String what, Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        try {
            if (!places.tryAcquire(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                String message = "Too many requests wait for the API server, and none ended within %s: %s";
                throw new ClusterException(message.formatted(TransientRetry.seconds(limit), what), null);
            }
        } catch (InterruptedException e) {
            throw interrupted(what, e);
        }
        try {
            return send(call, what, end, limit);
        } finally {
            places.release();
        }
    }

    /** Sends once more if one side refused the other and new credentials are available. */
    private <T> Sent<T> send(Call<T> call, String what, long end, Duration limit) {
        Sent<T> first = client.send(call);
        try {
            Response<T> response = await(first, what, end, limit);
            if (response.statusCode() != UNAUTHORIZED || !isRenewed(first, end)) {
                return first;
            }
            discard(response);
        } catch (ClusterException e) {
            if (!isOfTls(e) || !isRenewed(first, end)) {
                throw e;
            }
        }
        Sent<T> second = client.send(call);
        await(second, what, end, limit);
        return second;
    }

    private boolean isRenewed(Sent<?> refused, long end) {
        return client.refused(refused.connections(), end - System.nanoTime());
    }

    private static void discard(Response<?> response) {
        try {
            if (response.body() instanceof InputStream body) {
                body.close();
            } else if (response.body() instanceof Watch watch) {
                watch.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isOfTls(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .anyMatch(SSLHandshakeException.class::isInstance);
    }

    /** Measures a request by method, resource and status: never by an object's name. */
    private void measure(String method, String path, String status, long sinceNanos) {
        Duration took = Duration.ofNanos(System.nanoTime() - sinceNanos);
        meters.time(Metric.API_REQUESTS, took, method, resource(path), status);
    }

    /** {@code api/v1/nodes/n} belongs to nodes, and {@code ../resourceclaims/c/status} to the status of claims. */
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

    /** Waits for the answer; an answer right at the timeout counts. */
    <T> Response<T> await(Sent<T> request, String what, long end, Duration limit) {
        long left = Math.max(TimeUnit.MILLISECONDS.toNanos(1), end - System.nanoTime());
        try {
            Response<T> response = request.response().get(left, TimeUnit.NANOSECONDS);
            client.answered(request.connections());
            return response;
        } catch (TimeoutException e) {
            if (isAnswered(request)) {
                return request.response().join();
            }
            if (System.nanoTime() - request.since() >= Math.max(SHORTEST_SILENCE_NANOS, limit.toNanos() / 2)) {
                client.unanswered(request);
            }
            throw late(what, limit, e);
        } catch (ExecutionException e) {
            throw lost(what, e.getCause());
        } catch (InterruptedException e) {
            if (isAnswered(request)) {
                discard(request.response().join());
            }
            throw interrupted(what, e);
        }
    }

    /** Cancels a request, and closes its connection, unless its answer has arrived. */
    private static boolean isAnswered(Sent<?> request) {
        return !request.response().cancel(true) && !request.response().isCompletedExceptionally();
    }

    private static ClusterException interrupted(String what, InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new ClusterException("Interrupted while waiting for the API server: " + what, cause);
    }

    private static ClusterException late(String what, Duration limit, Exception cause) {
        return new ClusterException(
                "The API server did not answer within %s: %s".formatted(TransientRetry.seconds(limit), what), cause);
    }

    private ClusterException lost(String what, @Nullable Throwable cause) {
        return new ClusterException(
                "No answer from the API server %s to %s: %s. Is the address in the kubeconfig right, and may this process connect to it?"
                        .formatted(server(), what, reason(cause)),
                cause);
    }

    /** Many failures of a connection have no message, or only their cause has one. */
    private static String reason(@Nullable Throwable failure) {
        for (Throwable e = failure; e != null; e = e.getCause()) {
            if (e.getMessage() != null && !e.getMessage().isBlank()) {
                return e.getMessage();
            }
        }
        return failure instanceof ConnectException ? "the connection was refused" : String.valueOf(failure);
    }

    private ClusterException failure(String what, Response<?> response, JsonNode status) {
        String reason = status.path("message").asText("");
        String message = "The API server answered %s%s: %s"
                .formatted(response.statusCode(), (reason.isEmpty() ? "" : " (" + reason + ")"), what);
        if (response.statusCode() == ClusterException.NOT_FOUND
                && status.path("reason").asText().equals("NotFound")
                && !status.at("/details/name").asText().isEmpty()) {
            return new ClusterException.NotFound(message);
        }
        if (response.statusCode() == FORBIDDEN || response.statusCode() == INVALID) {
            Optional<ClusterException.Forbidden> refused = permissions.refused(message, reason);
            if (refused.isPresent()) {
                return refused.get();
            }
        }
        return new ClusterException(message, response.statusCode(), retryAfter(response));
    }

    /** A Kubernetes Status; an intermediate proxy may respond with something else. */
    private static JsonNode status(@Nullable String body) {
        try {
            return body == null ? Json.object() : Json.parse(body);
        } catch (IllegalArgumentException e) {
            return Json.object();
        }
    }

    private static @Nullable Duration retryAfter(Response<?> response) {
        String seconds = header(response, "Retry-After");
        // The other form of the header, a date, is not used by API servers.
        return seconds != null && seconds.matches("[0-9]{1,9}")
                ? Duration.ofSeconds(Math.min(LONGEST_RETRY_AFTER_SECONDS, Integer.parseInt(seconds)))
                : null;
    }
}
