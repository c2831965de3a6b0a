// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All objects of a collection from some moment on, state by state: no lasting state is missed.
 *
 * <p>A watch that the server ends is continued where it ended. Thread-safe; {@link #close} ends it.
 */
public final class ObjectWatch implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Function<String, Stream<String>> open;
    private final Map<String, JsonNode> objects = new LinkedHashMap<>(); // guarded by this
    private final List<List<JsonNode>> states = new ArrayList<>(); // guarded by this
    private String version; // guarded by this
    private @Nullable Stream<String> lines; // guarded by this
    private @Nullable RuntimeException failure; // guarded by this
    private boolean closed; // guarded by this

    /**
     * Begins to watch.
     *
     * @param list what a list of the collection answered
     * @param open opens a watch from a resource version on, as lines
     */
    ObjectWatch(JsonNode list, Function<String, Stream<String>> open) {
        this.open = open;
        version = list.at("/metadata/resourceVersion").asText();
        list.path("items").forEach(item -> objects.put(name(item), item));
        states.add(List.copyOf(objects.values()));
        Thread reader = new Thread(this::read, "dra-conformance-watch");
        reader.setDaemon(true);
        reader.start();
    }

    private static String name(JsonNode object) {
        return object.at("/metadata/namespace").asText()
                + "/"
                + object.at("/metadata/name").asText();
    }

    private void read() {
        try {
            for (Stream<String> next = next(); next != null; next = next()) {
                next.forEach(this::receive);
            }
        } catch (UncheckedIOException | ApiRequestException e) {
            fail(e);
        }
    }

    private @Nullable Stream<String> next() {
        String from;
        synchronized (this) {
            from = version;
            if (closed) {
                return null;
            }
        }
        Stream<String> opened = open.apply(from);
        synchronized (this) {
            if (!closed) {
                lines = opened;
                return opened;
            }
        }
        opened.close();
        return null;
    }

    private synchronized void fail(RuntimeException e) {
        if (!closed) {
            failure = e;
            notifyAll();
        }
    }

    private synchronized void receive(String line) {
        JsonNode event = parsed(line);
        JsonNode object = event.path("object");
        String type = event.path("type").asText();
        if (type.equals("ERROR")) {
            throw new ApiRequestException("the watch ended: " + line);
        }
        version = object.at("/metadata/resourceVersion").asText();
        if (!type.equals("BOOKMARK")) {
            if (type.equals("DELETED")) {
                objects.remove(name(object));
            } else {
                objects.put(name(object), object);
            }
            states.add(List.copyOf(objects.values()));
            notifyAll();
        }
    }

    private static JsonNode parsed(String line) {
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("The API server sent " + line, e);
        }
    }

    /** The objects now. */
    public synchronized List<JsonNode> now() {
        return states.get(states.size() - 1);
    }

    /** All states since the beginning, in order; each differs from the previous one in one object. */
    public synchronized List<List<JsonNode>> states() {
        return List.copyOf(states);
    }

    /**
     * Waits until the objects satisfy a condition, and returns them as they did; empty on a timeout.
     *
     * @throws ApiRequestException if the watch broke, and could not be restarted
     */
    public synchronized Optional<List<JsonNode>> await(Predicate<List<JsonNode>> wanted, Duration timeout)
            throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (!wanted.test(now())) {
            RuntimeException broken = failure;
            if (broken != null) {
                throw broken;
            }
            long left = end - System.nanoTime();
            if (left <= 0) {
                return Optional.empty();
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return Optional.of(now());
    }

    @Override
    public void close() {
        Stream<String> open;
        synchronized (this) {
            closed = true;
            open = lines;
        }
        if (open != null) {
            open.close();
        }
    }
}
