// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import io.dra4j.testkit.apiserver.model.Traffic;
import io.dra4j.testkit.apiserver.registry.Registry;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.http.Connections;
import io.dra4j.testkit.http.ServingTls;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/** Serves a registry over HTTP, and over TLS, on 127.0.0.1. */
public final class ApiListener implements AutoCloseable {
    private final Server server = Connections.server("dra4j-apiserver", 32, new StatusErrors());
    private final ServerConnector connector;
    private final ServingTls tls = new ServingTls();
    private final @Nullable ServerConnector secure;
    private final ScheduledThreadPoolExecutor scheduler = newScheduler();
    private final WatchEndpoint watches;
    private final ApiHandler handler;

    /** The clock is that of ages in tables. */
    public ApiListener(
            ResourceKinds kinds, Registry registry, ObjectStore store, InstantSource clock, Serving serving) {
        HttpConfiguration http = Connections.configuration();
        connector = newConnector(server, serving.port(), new HttpConnectionFactory(http));
        secure = serving.tls() ? newConnector(server, 0, Connections.secure(tls, http)) : null;
        watches = new WatchEndpoint(store, this::after, serving);
        ResourceEndpoint resources = new ResourceEndpoint(registry, store, watches, serving.gates(), clock);
        handler = new ApiHandler(kinds, resources, serving);
        server.setHandler(handler);
    }

    private static ScheduledThreadPoolExecutor newScheduler() {
        ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "dra4j-apiserver-timer");
            thread.setDaemon(true);
            return thread;
        });
        scheduler.setRemoveOnCancelPolicy(true);
        return scheduler;
    }

    private Runnable after(Duration delay, boolean again, Runnable task) {
        long nanos = delay.toNanos();
        Future<?> timer = again
                ? scheduler.scheduleWithFixedDelay(task, nanos, nanos, TimeUnit.NANOSECONDS)
                : scheduler.schedule(task, nanos, TimeUnit.NANOSECONDS);
        return () -> timer.cancel(false);
    }

    private static ServerConnector newConnector(Server server, int port, ConnectionFactory... protocols) {
        ServerConnector connector = new ServerConnector(server, 1, 1, protocols);
        connector.setHost("127.0.0.1");
        connector.setPort(port);
        connector.setIdleTimeout(0); // Idle watches are the normal case.
        connector.setAcceptQueueSize(1024);
        server.addConnector(connector);
        return connector;
    }

    /** Throws IllegalStateException when it cannot listen. */
    public void start() {
        try {
            server.start();
        } catch (Exception e) {
            close();
            throw new IllegalStateException(
                    "the embedded API server cannot listen on 127.0.0.1:%s; is the port taken?"
                            .formatted(connector.getPort()),
                    e);
        }
    }

    public int port() {
        return connector.getLocalPort();
    }

    /** Throws IllegalStateException when it does not serve TLS. */
    public int securePort() {
        return secure().getLocalPort();
    }

    /** The TLS of the secure port. */
    public ServingTls tls() {
        secure();
        return tls;
    }

    public void closeSecureConnections() {
        List.copyOf(secure().getConnectedEndPoints()).forEach(EndPoint::close);
    }

    public int secureConnections() {
        return secure().getConnectedEndPoints().size();
    }

    private ServerConnector secure() {
        if (secure == null) {
            throw new IllegalStateException("the embedded API server does not serve TLS; call tls() on its builder");
        }
        return secure;
    }

    public int openWatches() {
        return watches.count();
    }

    public void endWatches() {
        watches.endAll();
    }

    /** The requests so far by protocol, such as {@code HTTP/2.0}. */
    public Map<String, Long> protocols() {
        return handler.counts().protocols();
    }

    /** The traffic so far by kind, such as {@code create resourceslices}. */
    public Map<String, Traffic> traffic() {
        return handler.counts().traffic();
    }

    @Override
    public void close() {
        watches.endAll();
        scheduler.shutdownNow();
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the embedded API server did not stop cleanly", e);
        }
    }

    /** Requests that never reach the API, such as an ambiguous path, get a Status as well, not a page for people. */
    private static final class StatusErrors extends ErrorHandler {
        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            int code = request.getAttribute(ERROR_STATUS) instanceof Integer status ? status : 500;
            Object message = request.getAttribute(ERROR_MESSAGE);
            ApiFailure failure = ApiFailure.transport(code, message == null ? "no such request" : message.toString());
            response.getHeaders().put(HttpHeader.CONNECTION, "close");
            new Exchange(Transport.of(request, response, callback), Duration.ZERO).respond(failure);
            return true;
        }
    }
}
