// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.protobuf.WatchFrames;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;

/** Requests with raw bytes, and responses in JSON or protobuf. */
final class ProtobufProbe {
    static final String PROTOBUF = KubernetesProtobuf.MEDIA_TYPE;
    static final String BOTH = PROTOBUF + ",application/json";

    private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();

    /** A response; its body decoded by its content type. */
    record Answer(int code, String contentType, byte[] bytes) {
        ObjectNode json() {
            return KubernetesProtobuf.isProtobuf(contentType)
                    ? CODEC.decode(bytes)
                    : (ObjectNode) Json.parse(new String(bytes, StandardCharsets.UTF_8));
        }

        String text(String... path) {
            return Json.text(json(), path);
        }
    }

    /** An open watch. */
    static final class Stream implements AutoCloseable {
        private final HttpResponse<InputStream> response;
        private final WatchFrames frames = new WatchFrames(CODEC);
        private final Queue<ObjectNode> events = new ArrayDeque<>();

        private Stream(HttpResponse<InputStream> response) {
            this.response = response;
        }

        String contentType() {
            return response.headers().firstValue("Content-Type").orElse("");
        }

        /** The next event; empty at the end. */
        ObjectNode next() throws IOException {
            byte[] chunk = new byte[8192];
            while (events.isEmpty()) {
                int count = response.body().read(chunk);
                if (count < 0) {
                    return Json.object();
                }
                events.addAll(frames.add(Arrays.copyOf(chunk, count)));
            }
            return events.remove();
        }

        @Override
        public void close() throws IOException {
            response.body().close();
        }
    }

    private final URI base;

    ProtobufProbe(EmbeddedApiServer server) {
        this.base = server.url();
    }

    Answer get(String path, String accept) {
        return send(request(path, accept).GET().build());
    }

    Answer send(String method, String path, byte[] body) {
        return send(method, path, PROTOBUF, BOTH, body);
    }

    Answer send(String method, String path, String type, String accept, byte[] body) {
        return send(
                request(path, accept)
                        .header("Content-Type", type)
                        .method(method, BodyPublishers.ofByteArray(body))
                        .build());
    }

    Answer send(String method, String path, JsonNode object) {
        return send(method, path, CODEC.encode(object));
    }

    private HttpRequest.Builder request(String path, String accept) {
        return HttpRequest.newBuilder(base.resolve(path)).header("Accept", accept);
    }

    Stream watch(String path, String accept) {
        HttpRequest request = request(path, accept).build();
        return new Stream(HttpProbe.send(request, BodyHandlers.ofInputStream()));
    }

    private static Answer send(HttpRequest request) {
        HttpResponse<byte[]> response = HttpProbe.send(request, BodyHandlers.ofByteArray());
        String type = response.headers().firstValue("Content-Type").orElse("");
        return new Answer(response.statusCode(), type, response.body());
    }
}
