// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.testkit.apiserver.model.ResourceKinds;
import io.dra4j.testkit.apiserver.registry.Registry;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.content.ByteBufferContentSource;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields;
import org.eclipse.jetty.util.UrlEncoded;
import org.jspecify.annotations.Nullable;

/** Answers requests without connections, on the threads of the callers. */
public final class InMemoryApi {
    private final WatchEndpoint watches;
    private final ApiHandler handler;
    private final BiConsumer<Duration, Runnable> timers;

    /** The clock is that of ages in tables; timers run a task after a time. */
    public InMemoryApi(
            ResourceKinds kinds,
            Registry registry,
            ObjectStore store,
            InstantSource clock,
            Serving serving,
            BiConsumer<Duration, Runnable> timers) {
        this.timers = timers;
        watches = new WatchEndpoint(store, this::after, serving);
        ResourceEndpoint resources = new ResourceEndpoint(registry, store, watches, serving.gates(), clock);
        handler = new ApiHandler(kinds, resources, serving);
    }

    private Runnable after(Duration delay, boolean again, Runnable task) {
        AtomicBoolean cancelled = new AtomicBoolean();
        Runnable timer = new Runnable() {
            @Override
            public void run() {
                if (!cancelled.get()) {
                    task.run();
                    if (again) {
                        timers.accept(delay, this);
                    }
                }
            }
        };
        timers.accept(delay, timer);
        return () -> cancelled.set(true);
    }

    /** Takes a response: its head, the pieces of its body, and its end. */
    public interface Receiver {
        void head(int status, Map<String, List<String>> headers);

        void body(byte[] piece);

        void end();
    }

    /**
     * Answers a request; only a watch has not ended when this returns.
     *
     * @param target the path and the query, as a client sends them
     * @param receiver is called before this returns and, with a watch, by each write of its kind and by timers
     * @return run it when the client goes away: the receiver then gets nothing more
     */
    public Runnable handle(
            String method, String target, Map<String, List<String>> headers, byte[] body, Receiver receiver) {
        int end = target.indexOf('?');
        String query = end < 0 ? "" : target.substring(end + 1);
        HttpFields.Mutable head = HttpFields.build();
        headers.forEach(head::add);
        Answer answer = new Answer(receiver);
        Transport transport = new Transport(
                method,
                end < 0 ? target : target.substring(0, end),
                () -> parameters(query),
                head,
                new ByteBufferContentSource(ByteBuffer.wrap(body)),
                status -> answer.status = status,
                answer.headers,
                answer,
                Callback.NOOP,
                cause -> answer.disconnect());
        handler.answer(transport, exchange -> {});
        return () -> answer.closed = true;
    }

    private static Fields parameters(String query) {
        Fields fields = new Fields(true);
        UrlEncoded.decodeUtf8To(query, fields);
        return fields;
    }

    /** The number of open watches; one whose client went away counts until its next event. */
    public int openWatches() {
        return watches.count();
    }

    public void endWatches() {
        watches.endAll();
    }

    /** Forwards a response to the receiver. */
    private static final class Answer implements Content.Sink {
        private final Receiver receiver;
        private final HttpFields.Mutable headers = HttpFields.build();
        private int status;
        private boolean begun;
        private volatile boolean closed;

        Answer(Receiver receiver) {
            this.receiver = receiver;
        }

        void disconnect() {
            closed = true;
            receiver.end();
        }

        @Override
        public void write(boolean last, @Nullable ByteBuffer bytes, Callback written) {
            if (closed) {
                written.failed(new IOException("the client went away"));
                return;
            }
            if (!begun) {
                begun = true;
                receiver.head(status, HttpFields.asMap(headers));
            }
            if (BufferUtil.hasContent(bytes)) {
                receiver.body(BufferUtil.toArray(bytes));
            }
            if (last) {
                receiver.end();
            }
            written.succeeded();
        }
    }
}
