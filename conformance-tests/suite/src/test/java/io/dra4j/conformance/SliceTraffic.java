// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What others than the driver ask of the server about slices, over HTTP and past the proxy. */
final class SliceTraffic {

    static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final EmbeddedApiServer api;

    SliceTraffic(EmbeddedApiServer api) {
        this.api = api;
    }

    private URI slices(String rest) {
        return URI.create(api.url() + "/apis/resource.k8s.io/v1/resourceslices" + rest);
    }

    /** What the kubelet does 30 s after it lost the driver, and whenever it starts. */
    void wipe() throws IOException, InterruptedException {
        send(
                HttpRequest.newBuilder(
                                slices(
                                        "?fieldSelector=spec.nodeName%3Dnode-1,"
                                                + "spec.driver%3Dgpu.example.com"))
                        .DELETE());
    }

    void delete(JsonNode slice) throws IOException, InterruptedException {
        send(HttpRequest.newBuilder(slices("/" + name(slice))).DELETE());
    }

    void patch(JsonNode slice, String jsonPatch) throws IOException, InterruptedException {
        send(
                HttpRequest.newBuilder(slices("/" + name(slice)))
                        .header("Content-Type", "application/json-patch+json")
                        .method("PATCH", BodyPublishers.ofString(jsonPatch)));
    }

    void put(JsonNode slice) throws IOException, InterruptedException {
        send(
                HttpRequest.newBuilder(slices("/" + name(slice)))
                        .header("Content-Type", "application/json")
                        .PUT(BodyPublishers.ofString(slice.toString())));
    }

    private static String name(JsonNode slice) {
        return slice.at("/metadata/name").asText();
    }

    private static void send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<String> answer = HTTP.send(request.build(), BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new AssertionError(answer + ": " + answer.body());
        }
    }

    /** What happened to slices from the beginning until now, as a watch tells it. */
    List<JsonNode> history() throws IOException, InterruptedException {
        JsonNode last =
                api.store()
                        .put(
                                JSON.readTree(
                                        """
                                        {"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice",
                                         "metadata":{"name":"the-end"},
                                         "spec":{"driver":"end.example.com","nodeName":"node-1",
                                          "pool":{"name":"end","generation":1,
                                           "resourceSliceCount":1}}}
                                        """));
        String end = last.at("/metadata/resourceVersion").asText();
        HttpRequest watch =
                HttpRequest.newBuilder(slices("?watch=true&timeoutSeconds=30&resourceVersion=1"))
                        .build();
        List<JsonNode> events = new ArrayList<>();
        try (Stream<String> lines = HTTP.send(watch, BodyHandlers.ofLines()).body()) {
            lines.map(SliceTraffic::event)
                    .takeWhile(e -> !e.at("/object/metadata/resourceVersion").asText().equals(end))
                    .forEach(events::add);
        }
        return events;
    }

    private static JsonNode event(String line) {
        try {
            JsonNode event = JSON.readTree(line);
            if (event.path("type").asText().equals("ERROR")) {
                throw new AssertionError("the history is incomplete: " + line);
            }
            return event;
        } catch (JsonProcessingException e) {
            throw new AssertionError("the history is unreadable: " + line, e);
        }
    }
}
