// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
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
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/** Hand-written requests to a server, and the responses in JSON or protobuf. */
public final class HttpProbe {
    public static final String SLICES = "/apis/resource.k8s.io/v1/resourceslices";
    public static final String CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
    static final String JSON = "application/json";
    static final String PROTOBUF = KubernetesProtobuf.MEDIA_TYPE;
    static final String BOTH = PROTOBUF + ",application/json";

    private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    /** A response; header names in lower case. */
    public record Answer(int status, Map<String, String> headers, byte[] bytes) {
        String contentType() {
            return headers.getOrDefault("content-type", "");
        }

        /** The body as an object, decoded by its content type; any other body as its text. */
        public ObjectNode body() {
            if (KubernetesProtobuf.isProtobuf(contentType())) {
                return CODEC.decode(bytes);
            }
            String text = new String(bytes, StandardCharsets.UTF_8);
            return contentType().startsWith(JSON)
                    ? (ObjectNode) JsonTrees.parse(text)
                    : JsonTrees.object().put("text", text);
        }

        public String text(String... path) {
            return JsonTrees.text(body(), path);
        }

        /** The status and the reason of a refusal, for example {@code 404 NotFound}. */
        public String refusal() {
            return status + " " + text("reason");
        }

        public String message() {
            return text("message");
        }

        String resourceVersion() {
            return text("metadata", "resourceVersion");
        }
    }

    /** An open watch, read event by event. */
    static final class Stream implements AutoCloseable {
        private final HttpResponse<InputStream> response;
        private final BufferedReader lines;

        private Stream(HttpResponse<InputStream> response) {
            this.response = response;
            lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
        }

        String contentType() {
            return response.headers().firstValue("Content-Type").orElse("");
        }

        /** The next event; empty at the end. */
        ObjectNode next() throws IOException {
            if (contentType().equals(JSON)) {
                String line = lines.readLine();
                return line == null ? JsonTrees.object() : (ObjectNode) JsonTrees.parse(line);
            }
            byte[] length = response.body().readNBytes(Integer.BYTES);
            return length.length == 0
                    ? JsonTrees.object()
                    : CODEC.decodeEvent(
                            response.body().readNBytes(ByteBuffer.wrap(length).getInt()));
        }

        /** The type of the next event and the name of its object. */
        String shown() throws IOException {
            return HttpProbe.shown(next());
        }

        @Override
        public void close() throws IOException {
            lines.close();
        }
    }

    private final URI base;
    private final HttpClient client;

    public HttpProbe(EmbeddedApiServer server) {
        this(server.url());
    }

    /** For a server of another process. */
    public HttpProbe(URI server) {
        this(server, CLIENT);
    }

    HttpProbe(URI server, HttpClient client) {
        base = server;
        this.client = client;
    }

    static String shown(JsonNode event) {
        return JsonTrees.text(event, "type") + " " + JsonTrees.text(event, "object", "metadata", "name");
    }

    public Answer get(String path) {
        return get(path, JSON);
    }

    public Answer get(String path, String accept) {
        return send(request(path, accept).build());
    }

    public Answer post(String path, String json) {
        return send("POST", path, JSON, json);
    }

    public Answer put(String path, String json) {
        return send("PUT", path, JSON, json);
    }

    public Answer delete(String path, String json) {
        return send("DELETE", path, JSON, json);
    }

    public Answer send(String method, String path, String type, String body) {
        return send(method, path, type, "*/*", body.getBytes(StandardCharsets.UTF_8));
    }

    /** A request in protobuf. */
    Answer send(String method, String path, byte[] body) {
        return send(method, path, PROTOBUF, BOTH, body);
    }

    Answer send(String method, String path, String type, String accept, byte[] body) {
        return send(request(path, accept)
                .header("Content-Type", type)
                .method(method, BodyPublishers.ofByteArray(body))
                .build());
    }

    private HttpRequest.Builder request(String path, String accept) {
        return HttpRequest.newBuilder(base.resolve(path)).header("Accept", accept);
    }

    private Answer send(HttpRequest request) {
        HttpResponse<byte[]> response = send(request, BodyHandlers.ofByteArray());
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        response.headers().map().forEach((name, values) -> headers.put(name, values.get(0)));
        return new Answer(response.statusCode(), headers, response.body());
    }

    private <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler) {
        try {
            return client.send(request, handler);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    Stream watch(String path) {
        return watch(path, JSON);
    }

    Stream watch(String path, String accept) {
        return new Stream(send(request(path, accept).build(), BodyHandlers.ofInputStream()));
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
