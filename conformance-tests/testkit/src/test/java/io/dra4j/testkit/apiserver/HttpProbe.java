// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.model.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;

/** Hand-written requests to a server, and the responses. */
public final class HttpProbe {
    public static final String SLICES = "/apis/resource.k8s.io/v1/resourceslices";
    public static final String CLAIMS =
            "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";

    /** A status and a JSON body. */
    public record Answer(int status, JsonNode body, String contentType) {
        public String reason() {
            return body.path("reason").asText();
        }

        public String message() {
            return body.path("message").asText();
        }

        String resourceVersion() {
            return Json.text(body, "metadata", "resourceVersion");
        }
    }

    /** An open watch, read line by line. */
    record Stream(BufferedReader lines) implements AutoCloseable {
        JsonNode next() throws IOException {
            String line = lines.readLine();
            return line == null ? Json.object() : Json.MAPPER.readTree(line);
        }

        @Override
        public void close() throws IOException {
            lines.close();
        }
    }

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final URI base;

    public HttpProbe(EmbeddedApiServer server) {
        base = server.url();
    }

    public Answer get(String path) {
        return get(path, "application/json");
    }

    public Answer get(String path, String accept) {
        return send(HttpRequest.newBuilder(base.resolve(path)).header("Accept", accept));
    }

    public Answer post(String path, String json) {
        return send("POST", path, "application/json", json);
    }

    public Answer put(String path, String json) {
        return send("PUT", path, "application/json", json);
    }

    public Answer delete(String path, String json) {
        return send("DELETE", path, "application/json", json);
    }

    public Answer send(String method, String path, String type, String body) {
        return send(
                HttpRequest.newBuilder(base.resolve(path))
                        .header("Content-Type", type)
                        .method(method, BodyPublishers.ofString(body)));
    }

    private Answer send(HttpRequest.Builder request) {
        HttpResponse<byte[]> response = send(request.build(), BodyHandlers.ofByteArray());
        String type = response.headers().firstValue("Content-Type").orElse("");
        JsonNode body =
                type.startsWith("application/json")
                        ? Json.parse(new String(response.body(), StandardCharsets.UTF_8))
                        : Json.object()
                                .put("text", new String(response.body(), StandardCharsets.UTF_8));
        return new Answer(response.statusCode(), body, type);
    }

    static <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler) {
        try {
            return CLIENT.send(request, handler);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    Stream watch(String path) {
        return watch(path, "application/json");
    }

    Stream watch(String path, String accept) {
        HttpRequest request =
                HttpRequest.newBuilder(base.resolve(path)).header("Accept", accept).build();
        HttpResponse<InputStream> response = send(request, BodyHandlers.ofInputStream());
        return new Stream(
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8)));
    }

    /** A small valid slice of node-1; single quotes for double ones. */
    public static String slice(String name, int generation) {
        return json(
                "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'%s'},'spec':{'driver':'gpu.example.com','nodeName':'node-1','pool':{'name':'node-1','generation':%d,'resourceSliceCount':1},'devices':[{'name':'gpu-0'}]}}"
                        .formatted(name, generation));
    }

    static String claim(String name) {
        return json(
                "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'%s'},'spec':{'devices':{'requests':[{'name':'gpu','exactly':{'deviceClassName':'gpu.example.com'}}]}}}"
                        .formatted(name));
    }

    public static String json(String singleQuoted) {
        return singleQuoted.replace('\'', '"');
    }
}
