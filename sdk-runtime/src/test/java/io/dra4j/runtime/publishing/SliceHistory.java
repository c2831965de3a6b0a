// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.publishing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Every state that a slice had until now, as a watch from the beginning tells them. */
record SliceHistory(List<JsonNode> specs) {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String LAST = """
            {"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice",
             "metadata":{"name":"last","annotations":{"time":"%d"}},
             "spec":{"driver":"last.example.com","nodeName":"node-1",
              "pool":{"name":"last","generation":1,"resourceSliceCount":1}}}
            """;

    static SliceHistory of(EmbeddedApiServer api) throws IOException, InterruptedException {
        JsonNode last = api.store().put(JSON.readTree(LAST.formatted(System.nanoTime())));
        String end = last.at("/metadata/resourceVersion").asText();
        HttpRequest watch = HttpRequest.newBuilder(URI.create(api.url()
                        + "/apis/resource.k8s.io/v1/resourceslices"
                        + "?watch=true&timeoutSeconds=30&resourceVersion=1"))
                .build();
        List<JsonNode> specs = new ArrayList<>();
        try (Stream<String> events = HttpClient.newHttpClient()
                .send(watch, HttpResponse.BodyHandlers.ofLines())
                .body()) {
            events.map(SliceHistory::object)
                    .takeWhile(o -> !o.at("/metadata/resourceVersion").asText().equals(end))
                    .forEach(object -> specs.add(object.path("spec")));
        }
        return new SliceHistory(specs);
    }

    private static JsonNode object(String event) {
        try {
            JsonNode read = JSON.readTree(event);
            if (read.path("type").asText().equals("ERROR")) {
                throw new AssertionError("the history is incomplete: " + event);
            }
            return read.path("object");
        } catch (JsonProcessingException e) {
            throw new AssertionError("the history is unreadable: " + event, e);
        }
    }

    List<JsonNode> specs(String pool) {
        return specs.stream()
                .filter(spec -> spec.at("/pool/name").asText().equals(pool))
                .toList();
    }
}
