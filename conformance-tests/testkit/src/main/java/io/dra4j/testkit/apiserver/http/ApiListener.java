// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import io.dra4j.testkit.apiserver.registry.Registry;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.http.Connections;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/** Serves a registry over HTTP on 127.0.0.1. */
public final class ApiListener implements AutoCloseable {
    private final Server server = Connections.server("dra4j-apiserver", 32, new StatusErrors());
    private final ServerConnector connector;
    private final ScheduledThreadPoolExecutor scheduler = newScheduler();
    private final WatchEndpoint watches;
    private final ApiHandler handler;

    /**
     * @param port 0 takes a free one
     * @param clock the clock of ages in tables
     */
    public ApiListener(
            ResourceKinds kinds,
            Registry registry,
            ObjectStore store,
            InstantSource clock,
            Duration bookmarkInterval,
            int port) {
        connector = newConnector(server, port);
        watches = new WatchEndpoint(store, scheduler, bookmarkInterval);
        ResourceEndpoint resources = new ResourceEndpoint(registry, store, watches, clock);
        handler = new ApiHandler(kinds, resources);
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

    private static ServerConnector newConnector(Server server, int port) {
        ServerConnector connector =
                new ServerConnector(server, 1, 1, new HttpConnectionFactory(Connections.configuration()));
        connector.setHost("127.0.0.1");
        connector.setPort(port);
        connector.setIdleTimeout(0); // Idle watches are the normal case.
        connector.setAcceptQueueSize(1024);
        server.addConnector(connector);
        return connector;
    }

    /**
     * @throws IllegalStateException when it cannot listen
     */
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

    public int openWatches() {
        return watches.count();
    }

    /** The requests until now by kind, such as {@code create resourceslices}. */
    public Map<String, Long> requests() {
        return handler.counts().all();
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

    /**
     * Requests that never reach the API, such as an ambiguous path, get a Status as well, not a
     * page for people.
     */
    private static final class StatusErrors extends ErrorHandler {
        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            int code = request.getAttribute(ERROR_STATUS) instanceof Integer status ? status : 500;
            Object message = request.getAttribute(ERROR_MESSAGE);
            ApiFailure failure = ApiFailure.transport(code, message == null ? "no such request" : message.toString());
            response.getHeaders().put(HttpHeader.CONNECTION, "close");
            new Exchange(request, response, callback).respond(failure);
            return true;
        }
    }
}
