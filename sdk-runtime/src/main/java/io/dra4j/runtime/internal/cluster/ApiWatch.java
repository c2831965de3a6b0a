// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.http.AsyncBody;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A running watch: takes a response without an end apart, line by line, and hands its events on.
 *
 * <p>fabric8's own reader decodes each piece of bytes for itself. A character beyond ASCII then
 * puts NULs into the text or is cut in two, and the watch ends: one device with a name in its own
 * language would end each watch at each of its events. Here a line is decoded when it is complete.
 *
 * <p>The listener is called on threads of the HTTP client, one at a time, and gets one end at most.
 */
final class ApiWatch<T> implements Watch {

    private final Function<JsonNode, Optional<T>> decode;
    private final Listener<T> listener;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile @Nullable AsyncBody body;

    /**
     * Makes a watch; {@link #begin} starts it.
     *
     * @param decode reads an object; of an empty one the listener is not notified
     */
    ApiWatch(Function<JsonNode, Optional<T>> decode, Listener<T> listener) {
        this.decode = decode;
        this.listener = listener;
    }

    /** Begins to read. */
    void begin(AsyncBody response) {
        body = response;
        response.done()
                .whenComplete((nothing, failure) -> end(failure == null ? "the server ended it" : failure.toString()));
        response.consume();
    }

    /** Takes the next bytes, and requests more. */
    void take(List<ByteBuffer> bytes, AsyncBody response) {
        for (ByteBuffer part : bytes) {
            while (part.hasRemaining() && !over.get()) {
                byte next = part.get();
                if (next == '\n') {
                    event(line.toString(StandardCharsets.UTF_8));
                    line.reset();
                } else {
                    line.write(next);
                }
            }
        }
        response.consume();
    }

    private void event(String text) {
        try {
            JsonNode event = Json.parse(text);
            event(event.path("type").asText(), event.path("object"));
        } catch (IllegalArgumentException e) {
            stop("an event that is no JSON: " + e.getMessage());
        }
    }

    private void event(String type, JsonNode object) {
        switch (type) {
            case "ADDED", "MODIFIED" -> decode.apply(object).ifPresent(listener::changed);
            case "DELETED" -> decode.apply(object).ifPresent(listener::deleted);
            case "BOOKMARK" -> listener.bookmark();
            default -> stop(type + " " + object.path("message").asText());
        }
    }

    private void stop(String reason) {
        end(reason);
        cancel();
    }

    private void end(String reason) {
        if (over.compareAndSet(false, true)) {
            listener.ended(reason);
        }
    }

    @Override
    public void close() {
        over.set(true);
        cancel();
    }

    private void cancel() {
        AsyncBody response = body;
        if (response != null) {
            response.cancel();
        }
    }
}
