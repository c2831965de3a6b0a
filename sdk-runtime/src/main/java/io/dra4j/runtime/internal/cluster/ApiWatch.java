// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Function;

/**
 * A running watch: splits an endless response into lines, and passes on its events.
 *
 * <p>A line is decoded when it is complete, because a chunk of bytes may split a character beyond ASCII.
 *
 * <p>The listener is called on threads of the HTTP client, one at a time, and gets at most one end.
 */
final class ApiWatch<T> implements Watch, HttpResponse.BodySubscriber<ApiWatch<T>> {

    private final Function<JsonNode, Optional<T>> decode;
    private final Listener<T> listener;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private final CompletableFuture<Flow.Subscription> body = new CompletableFuture<>();
    private volatile long lastReceived = System.nanoTime();

    /**
     * Creates a watch; it reads as soon as it gets the body of a response.
     *
     * @param decode reads an object; if it is empty, the listener is not notified
     */
    ApiWatch(Function<JsonNode, Optional<T>> decode, Listener<T> listener) {
        this.decode = decode;
        this.listener = listener;
    }

    /** The response is complete with its head; its body has no end. */
    @Override
    public CompletionStage<ApiWatch<T>> getBody() {
        return CompletableFuture.completedFuture(this);
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        body.complete(subscription);
        subscription.request(1);
    }

    /** Takes the next bytes, and requests more. */
    @Override
    public void onNext(List<ByteBuffer> bytes) {
        lastReceived = System.nanoTime();
        try {
            bytes.forEach(this::take);
        } catch (RuntimeException e) { // of an object that can't be read
            stop(e.toString());
        }
        body.thenAccept(subscription -> subscription.request(1));
    }

    private void take(ByteBuffer part) {
        while (part.hasRemaining() && !over.isDone()) {
            byte next = part.get();
            if (next == '\n') {
                event(line.toString(StandardCharsets.UTF_8));
                line.reset();
            } else {
                line.write(next);
            }
        }
    }

    @Override
    public void onError(Throwable failure) {
        end(failure.toString());
    }

    @Override
    public void onComplete() {
        end("the server ended it");
    }

    private void event(String text) {
        try {
            JsonNode event = Json.parse(text);
            event(event.path("type").asText(), event.path("object"));
        } catch (IllegalArgumentException e) {
            stop("an event that is not JSON: " + e.getMessage());
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
        if (over.complete(null)) {
            listener.ended(reason);
        }
    }

    /** Ends the watch as if its connection had, unless it received something since. */
    void endIfSilentSince(long nanoTime) {
        if (lastReceived - nanoTime < 0) {
            stop("a request was not answered, and nothing was received since");
        }
    }

    /** Calls back when the watch has ended, immediately if it already has. */
    void whenOver(Runnable callback) {
        over.thenRun(callback);
    }

    @Override
    public void close() {
        over.complete(null);
        cancel();
    }

    private void cancel() {
        body.thenAccept(Flow.Subscription::cancel);
    }
}
