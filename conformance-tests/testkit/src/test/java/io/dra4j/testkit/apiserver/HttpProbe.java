// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;

/** Hand-written requests to a server, and what came back. */
final class HttpProbe {
    static final String SLICES = "/apis/resource.k8s.io/v1/resourceslices";
    static final String CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";

    /** A status and a JSON body. */
    record Answer(int status, JsonNode body, String contentType) {
        String reason() {
            return body.path("reason").asText();
        }

        String message() {
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

    private final HttpClient client = HttpClient.newHttpClient();
    private final URI base;

    HttpProbe(EmbeddedApiServer server) {
        base = server.url();
    }

    Answer get(String path) {
        return get(path, "application/json");
    }

    Answer get(String path, String accept) {
        return send(HttpRequest.newBuilder(base.resolve(path)).header("Accept", accept));
    }

    Answer post(String path, String json) {
        return send("POST", path, "application/json", json);
    }

    Answer put(String path, String json) {
        return send("PUT", path, "application/json", json);
    }

    Answer delete(String path, String json) {
        return send("DELETE", path, "application/json", json);
    }

    Answer send(String method, String path, String type, String body) {
        return send(
                HttpRequest.newBuilder(base.resolve(path))
                        .header("Content-Type", type)
                        .method(method, BodyPublishers.ofString(body)));
    }

    private Answer send(HttpRequest.Builder request) {
        try {
            HttpResponse<byte[]> response =
                    client.send(request.build(), BodyHandlers.ofByteArray());
            String type = response.headers().firstValue("Content-Type").orElse("");
            JsonNode body =
                    type.startsWith("application/json")
                            ? Json.MAPPER.readTree(response.body())
                            : Json.object()
                                    .put(
                                            "text",
                                            new String(response.body(), StandardCharsets.UTF_8));
            return new Answer(response.statusCode(), body, type);
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    Stream watch(String path) {
        return watch(path, "application/json");
    }

    Stream watch(String path, String accept) {
        try {
            HttpResponse<InputStream> response =
                    client.send(
                            HttpRequest.newBuilder(base.resolve(path))
                                    .header("Accept", accept)
                                    .build(),
                            BodyHandlers.ofInputStream());
            return new Stream(
                    new BufferedReader(
                            new InputStreamReader(response.body(), StandardCharsets.UTF_8)));
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** A small valid slice of node-1; single quotes for double ones. */
    static String slice(String name, int generation) {
        return json(
                "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'"
                        + name
                        + "'},'spec':{'driver':'gpu.example.com','nodeName':'node-1','pool':{'name':'node-1','generation':"
                        + generation
                        + ",'resourceSliceCount':1},'devices':[{'name':'gpu-0'}]}}");
    }

    static String claim(String name) {
        return json(
                "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'"
                        + name
                        + "'},'spec':{'devices':{'requests':[{'name':'gpu','exactly':{'deviceClassName':'gpu.example.com'}}]}}}");
    }

    static String json(String singleQuoted) {
        return singleQuoted.replace('\'', '"');
    }
}
