// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.store.Selection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** Opens watches, sends their bookmarks, and ends them in time. */
final class WatchEndpoint {
    private final ObjectStore store;
    private final ScheduledExecutorService scheduler;
    private final Duration bookmarkInterval;
    private final Map<WatchStream, List<Future<?>>> open = new ConcurrentHashMap<>();

    WatchEndpoint(ObjectStore store, ScheduledExecutorService scheduler, Duration bookmarkInterval) {
        this.store = store;
        this.scheduler = scheduler;
        this.bookmarkInterval = bookmarkInterval;
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

    private List<Future<?>> timers(WatchStream stream, WatchRequest request) {
        long seconds = request.timeoutSeconds() > 0
                ? request.timeoutSeconds()
                : 1800 + ThreadLocalRandom.current().nextInt(1800);
        Future<?> end = scheduler.schedule(stream::end, seconds, TimeUnit.SECONDS);
        if (!request.bookmarks()) {
            return List.of(end);
        }
        long nanos = bookmarkInterval.toNanos();
        return List.of(
                end,
                scheduler.scheduleWithFixedDelay(() -> store.bookmark(stream), nanos, nanos, TimeUnit.NANOSECONDS));
    }

    private void forget(WatchStream stream) {
        store.unwatch(stream.kind(), stream);
        List<Future<?>> timers = open.remove(stream);
        if (timers != null) {
            timers.forEach(timer -> timer.cancel(false));
        }
    }

    int count() {
        return open.size();
    }

    void endAll() {
        open.keySet().forEach(WatchStream::end);
    }
}
