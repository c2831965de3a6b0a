// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Objects on an API server, which asks for no credentials, as JSON. Thread-safe.
 *
 * <p>An error response is thrown as an {@link ApiRequestException}, which is a fault of the suite and never the
 * driver's.
 */
public record ApiObjects(URI server) {

    /** The group of claims and slices. */
    public static final String RESOURCE = "/apis/resource.k8s.io/v1";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** One client for all, since each has a dozen threads. */
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();

    /**
     * Checks that claims and slices are served.
     *
     * @param server what to call the server
     * @throws ApiRequestException if they are not, in one line
     */
    public void requireResources(String server) {
        if (find(RESOURCE).isEmpty()) {
            throw new ApiRequestException(server
                    + " does not serve resource.k8s.io/v1: the suite needs Kubernetes 1.34 or"
                    + " newer, with dynamic resource allocation");
        }
    }

    /** Creates an object in a collection, for example {@code /api/v1/nodes}. */
    public JsonNode create(String collection, JsonNode object) {
        return expect(send("POST", collection, "application/json", object), collection);
    }

    /** Replaces an object, or a part of it such as {@code …/status}. */
    public JsonNode replace(String path, JsonNode object) {
        return expect(send("PUT", path, "application/json", object), path);
    }

    /** Changes an object by a JSON merge patch. */
    public JsonNode merge(String path, JsonNode patch) {
        return expect(send("PATCH", path, "application/merge-patch+json", patch), path);
    }

    /** Reads an object; empty if it does not exist. */
    public Optional<JsonNode> find(String path) {
        HttpResponse<String> response = send("GET", path, "", null);
        return response.statusCode() == 404 ? Optional.empty() : Optional.of(expect(response, path));
    }

    /**
     * Reads the lines with a prefix from a page that is not an object, such as {@code /metrics}, however large it is.
     *
     * @param limit the time limit for the whole page
     * @return no line if the server does not answer with the page, or on a timeout
     */
    public List<String> lines(String path, String beginning, Duration limit) {
        HttpRequest request = HttpRequest.newBuilder(server.resolve(path)).build();
        return CLIENT.sendAsync(request, BodyHandlers.ofLines())
                .thenApplyAsync(response -> lines(response, beginning), task -> new Thread(task, "dra4j-page").start())
                .completeOnTimeout(List.of(), limit.toMillis(), TimeUnit.MILLISECONDS)
                .exceptionally(failure -> List.of())
                .join();
    }

    private static List<String> lines(HttpResponse<Stream<String>> response, String beginning) {
        try (Stream<String> lines = response.body()) {
            return response.statusCode() == 200
                    ? lines.filter(line -> line.startsWith(beginning)).toList()
                    : List.of();
        }
    }

    /** Lists a collection; the query may be empty. */
    public List<JsonNode> list(String collection, String query) {
        String path = query.isEmpty() ? collection : collection + "?" + query;
        return elements(expect(send("GET", path, "", null), path).path("items"));
    }

    /** Watches a collection from now on; the query may be empty. */
    public ObjectWatch watch(String collection, String query) {
        String prefix = collection + "?" + (query.isEmpty() ? "" : query + "&");
        JsonNode list = expect(send("GET", prefix, "", null), collection);
        return new ObjectWatch(list, version -> lines(prefix + "watch=true&resourceVersion=" + version));
    }

    private Stream<String> lines(String path) {
        HttpResponse<Stream<String>> response = send(request(path).build(), BodyHandlers.ofLines());
        if (response.statusCode() / 100 != 2) {
            throw new ApiRequestException(path + " was answered " + response.statusCode());
        }
        return response.body();
    }

    /** Deletes an object, if it exists. */
    public void delete(String path) {
        HttpResponse<String> response = send("DELETE", path, "", null);
        if (response.statusCode() != 404) {
            expect(response, path);
        }
    }

    /** Deletes the objects of a collection that a query selects, as the kubelet does. */
    public void deleteCollection(String collection, String query) {
        String path = collection + "?" + query;
        expect(send("DELETE", path, "", null), path);
    }

    /** A query parameter's value, encoded. */
    public static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }

    /** The elements of a JSON array. */
    public static List<JsonNode> elements(JsonNode array) {
        return array.valueStream().toList();
    }

    private HttpResponse<String> send(String method, String path, String type, @Nullable JsonNode body) {
        HttpRequest.Builder request = request(path).timeout(LIMIT);
        if (body == null) {
            request.method(method, BodyPublishers.noBody());
        } else {
            request.method(method, BodyPublishers.ofString(body.toString()));
            request.header("Content-Type", type);
        }
        return send(request.build(), BodyHandlers.ofString());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(server.resolve(path)).header("Accept", "application/json");
    }

    private static <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler) {
        try {
            return CLIENT.send(request, handler);
        } catch (IOException e) {
            throw new ApiRequestException(request.method() + " " + request.uri() + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            String what = request.method() + " " + request.uri();
            throw new ApiRequestException(what + ": interrupted", e);
        }
    }

    private static JsonNode expect(HttpResponse<String> response, String path) {
        if (response.statusCode() / 100 != 2) {
            String method = response.request().method();
            throw new ApiRequestException(
                    "%s %s was answered %d: %s".formatted(method, path, response.statusCode(), response.body()));
        }
        try {
            return JSON.readTree(response.body());
        } catch (IOException e) {
            throw new UncheckedIOException("The API server's response for " + path, e);
        }
    }
}
