// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.store.Selection;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Opens watches, sends their bookmarks, and ends them in time. */
final class WatchEndpoint {
    private final ObjectStore store;
    private final Timers timers;
    private final Serving serving;
    private final Map<WatchStream, List<Runnable>> open = Collections.synchronizedMap(new LinkedHashMap<>());

    WatchEndpoint(ObjectStore store, Timers timers, Serving serving) {
        this.store = store;
        this.timers = timers;
        this.serving = serving;
    }

    /** Runs tasks later. */
    interface Timers {
        /**
         * Runs a task after a time.
         *
         * @param again whether it runs again and again, with that time between
         * @return cancels it
         */
        Runnable after(Duration delay, boolean again, Runnable task);
    }

    void open(Exchange exchange, ResourceKind kind, Selection selection, Rendition rendition) {
        if (exchange.asksForWebSocket()) {
            // fabric8 tries a web socket first and takes a 200 without upgrade as "use HTTP".
            exchange.respond(200, Body.JSON, new byte[0]);
            return;
        }
        WatchRequest request = WatchRequest.of(exchange);
        if (!request.fromNow()) {
            store.requireReached(request.revision());
        }
        boolean announce = request.initialEvents() && request.bookmarks();
        WatchStream stream = new WatchStream(kind, selection, rendition, announce, exchange, this::forget);
        open.put(stream, timers(stream, request));
        try {
            begin(kind, request, stream);
            stream.flush();
        } catch (ApiFailure failure) {
            stream.fail(failure);
        }
    }

    private void begin(ResourceKind kind, WatchRequest request, WatchStream stream) {
        if (!request.fromNow()) {
            store.watchAfter(kind, request.revision(), stream);
        } else if (request.onlyNew()) {
            store.watchAfter(kind, store.revision(), stream);
        } else {
            store.watchFromNow(kind, stream);
        }
    }

    private List<Runnable> timers(WatchStream stream, WatchRequest request) {
        long seconds = request.timeoutSeconds() > 0
                ? request.timeoutSeconds()
                : 1800 + serving.random().nextInt(1800);
        Runnable end = timers.after(Duration.ofSeconds(seconds), false, stream::end);
        if (!request.bookmarks()) {
            return List.of(end);
        }
        return List.of(end, timers.after(serving.bookmarkInterval(), true, () -> store.bookmark(stream)));
    }

    private void forget(WatchStream stream) {
        store.unwatch(stream.kind(), stream);
        List<Runnable> started = open.remove(stream);
        if (started != null) {
            started.forEach(Runnable::run);
        }
    }

    int count() {
        return open.size();
    }

    void endAll() {
        List.copyOf(open.keySet()).forEach(WatchStream::end);
    }
}
