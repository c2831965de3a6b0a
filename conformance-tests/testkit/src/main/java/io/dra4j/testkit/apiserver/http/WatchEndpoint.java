// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ZeroValues;
import io.dra4j.testkit.apiserver.store.CommittedWrite;
import io.dra4j.testkit.apiserver.store.ObjectSelection;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.store.WatchEvent;
import io.dra4j.testkit.apiserver.store.Watcher;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.IteratingCallback;

/** Opens watches, sends their bookmarks, and ends them on time. */
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

    interface Timers {
        /** Runs a task after a time, or repeatedly with that interval, until the returned task is run. */
        Runnable after(Duration delay, boolean again, Runnable task);
    }

    void open(Exchange exchange, ResourceKind kind, ObjectSelection selection, Rendition rendition) {
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

    /**
     * One client's open watch, written without a separate thread.
     *
     * <p>Events are queued in the order of revisions and written together as soon as the socket takes
     * them. A client that went away is noticed at the next write; one that does not read is disconnected when its queue
     * is full. Both end the stream, once.
     */
    private static final class WatchStream implements Watcher {
        /** The end of the initial events, as client-go's WatchList looks for it. */
        private static final String INITIAL_EVENTS_END = "k8s.io/initial-events-end";

        /** The number of events that a client may be behind, initial events not counted. */
        private static final int MAX_BEHIND = 1_000;

        private final ResourceKind kind;
        private final ObjectSelection selection;
        private final Rendition rendition;
        private final boolean announceSync;
        private final Transport transport;
        private final Consumer<WatchStream> onEnd;
        private final Writer writer = new Writer();
        // Guarded by this.
        private final Queue<WatchEvent> queued = new ArrayDeque<>();
        private boolean begun;
        private boolean ending;
        private boolean cutOff;

        /** The client may wait for the bookmark that ends the initial events; {@code onEnd} is called once. */
        WatchStream(
                ResourceKind kind,
                ObjectSelection selection,
                Rendition rendition,
                boolean announceSync,
                Exchange exchange,
                Consumer<WatchStream> onEnd) {
            this.kind = kind;
            this.selection = selection;
            this.rendition = rendition;
            this.announceSync = announceSync;
            this.transport = exchange.startStream(rendition.watchType());
            this.onEnd = onEnd;
        }

        ResourceKind kind() {
            return kind;
        }

        @Override
        public void changed(CommittedWrite change) {
            selection.view(change).ifPresent(this::queue);
        }

        @Override
        public void synced(long revision) {
            if (announceSync) {
                StoredObject bookmark = bookmarkAt(revision);
                JsonTrees.metadata(bookmark.json()).putObject("annotations").put(INITIAL_EVENTS_END, "true");
                queue(new WatchEvent("BOOKMARK", bookmark));
            }
        }

        @Override
        public void bookmark(long revision) {
            queue(new WatchEvent("BOOKMARK", bookmarkAt(revision)));
        }

        private StoredObject bookmarkAt(long revision) {
            ObjectNode object = ZeroValues.of(kind);
            JsonTrees.metadata(object).put("resourceVersion", Long.toString(revision));
            return unnamed(revision, object);
        }

        private StoredObject unnamed(long revision, ObjectNode object) {
            return new StoredObject(kind, new ObjectKey("", ""), revision, object);
        }

        private synchronized void queue(WatchEvent event) {
            cutOff |= begun && queued.size() >= MAX_BEHIND;
            if (cutOff) {
                queued.clear();
            } else {
                queued.add(event);
            }
        }

        @Override
        public void flush() {
            boolean disconnected;
            synchronized (this) {
                begun = true;
                disconnected = cutOff;
            }
            if (disconnected) {
                transport.disconnect().accept(new IOException("the client does not read its watch"));
            }
            writer.iterate();
        }

        /** Ends the stream after what is queued. */
        void end() {
            synchronized (this) {
                ending = true;
            }
            writer.iterate();
        }

        /** Sends the failure as an event, and ends the stream. */
        void fail(ApiFailure failure) {
            queue(new WatchEvent("ERROR", unnamed(0, failure.status())));
            end();
        }

        private byte[] render(WatchEvent event) {
            return event.type().equals("ERROR")
                    ? rendition.failure(event.object().json())
                    : rendition.event(event);
        }

        /** Writes the queue, one write at a time. */
        private final class Writer extends IteratingCallback {
            private boolean headersSent;
            private boolean lastSent;

            @Override
            protected Action process() {
                if (lastSent) {
                    return Action.SUCCEEDED;
                }
                ByteArrayOutputStream lines = new ByteArrayOutputStream();
                synchronized (WatchStream.this) {
                    for (WatchEvent event = queued.poll(); event != null; event = queued.poll()) {
                        lines.writeBytes(render(event));
                    }
                    lastSent = ending;
                }
                if (lines.size() == 0 && headersSent && !lastSent) {
                    return Action.IDLE;
                }
                headersSent = true;
                ByteBuffer bytes = lines.size() == 0 ? BufferUtil.EMPTY_BUFFER : ByteBuffer.wrap(lines.toByteArray());
                transport.response().write(lastSent, bytes, this);
                return Action.SCHEDULED;
            }

            @Override
            protected void onCompleteSuccess() {
                onEnd.accept(WatchStream.this);
                transport.callback().succeeded();
            }

            @Override
            protected void onCompleteFailure(Throwable cause) {
                onEnd.accept(WatchStream.this);
                transport.callback().failed(cause);
            }
        }
    }
}
