// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Looks at the pools after each change of a slice, in the order in which the server made them. */
final class PoolHistory implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Stream<String> watch;
    private final Map<String, JsonNode> slices = new HashMap<>(); // of the thread
    private final Queue<String> problems = new ConcurrentLinkedQueue<>();
    private final AtomicInteger events = new AtomicInteger();

    private PoolHistory(Stream<String> watch) {
        this.watch = watch;
    }

    static PoolHistory of(EmbeddedApiServer api) throws IOException, InterruptedException {
        URI slices = URI.create(api.url() + "/apis/resource.k8s.io/v1/resourceslices?watch=true&timeoutSeconds=3600");
        PoolHistory history = new PoolHistory(HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(slices).build(), HttpResponse.BodyHandlers.ofLines())
                .body());
        Thread thread = new Thread(() -> history.watch.forEach(history::changed), "pool-history");
        thread.setDaemon(true);
        thread.start();
        return history;
    }

    private void changed(String line) {
        try {
            JsonNode event = JSON.readTree(line);
            JsonNode slice = event.path("object");
            String name = slice.at("/metadata/name").asText();
            if (event.path("type").asText().equals("DELETED")) {
                slices.remove(name);
            } else {
                slices.put(name, slice.path("spec"));
            }
            events.incrementAndGet();
            String pool = slice.at("/spec/pool/name").asText();
            look(
                    pool,
                    slices.values().stream()
                            .filter(spec -> spec.at("/pool/name").asText().equals(pool))
                            .toList());
        } catch (JsonProcessingException e) {
            problems.add("unreadable: " + line);
        }
    }

    private void look(String pool, List<JsonNode> specs) {
        List<List<String>> complete = complete(specs);
        if (complete.size() > 1) {
            problems.add(complete.size() + " complete generations of " + pool + ": " + specs);
        }
        for (List<String> devices : complete) {
            if (new HashSet<>(devices).size() < devices.size()) {
                problems.add("devices of " + pool + " are there twice: " + specs);
            }
        }
        specs.stream().collect(Collectors.groupingBy(PoolHistory::generation)).forEach((generation, ofOne) -> {
            if (ofOne.size() > ofOne.get(0).at("/pool/resourceSliceCount").asInt()) {
                problems.add("too many slices of generation " + generation + " of " + pool + ": " + specs);
            }
        });
    }

    private static long generation(JsonNode spec) {
        return spec.at("/pool/generation").asLong();
    }

    /** The devices of each generation of a pool that has all its slices. */
    static List<List<String>> complete(Collection<JsonNode> specs) {
        return specs.stream().collect(Collectors.groupingBy(PoolHistory::generation)).values().stream()
                .filter(ofOne -> ofOne.stream()
                        .allMatch(spec -> spec.at("/pool/resourceSliceCount").asInt() == ofOne.size()))
                .map(ofOne -> ofOne.stream()
                        .flatMap(spec ->
                                StreamSupport.stream(spec.path("devices").spliterator(), false))
                        .map(device -> device.path("name").asText())
                        .toList())
                .toList();
    }

    List<String> problems() {
        return List.copyOf(problems);
    }

    int events() {
        return events.get();
    }

    @Override
    public void close() {
        watch.close();
    }
}
