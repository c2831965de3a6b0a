// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.http.Connections;
import io.dra4j.testkit.rbac.Refusal;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.Response.CompleteListener;
import org.eclipse.jetty.client.Result;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.proxy.ProxyHandler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields;
import org.jspecify.annotations.Nullable;

/**
 * Records each request, applies the first fault that matches it, and forwards it.
 *
 * <p>A request's body is read before it is forwarded, so that faults may inspect it; responses are forwarded as they
 * arrive. If the server cannot be reached, the client's connection or the request's HTTP/2 stream is closed.
 */
final class ProxiedRequests extends ProxyHandler.Reverse {

    private static final int LONGEST_BODY = 4 * 1024 * 1024; // The API server takes 3 MiB.
    private static final long LONGEST_DRAINED = 32L * 1024 * 1024;
    private static final int LONGEST_RECORDED = 1024 * 1024;
    private static final int MAX_CONNECTIONS = 1_024; // Each open watch holds one.

    private final Upstream upstream;
    private final UpstreamLink link;
    private final RequestLog log;
    private final List<Injection> injections = new CopyOnWriteArrayList<>();
    private final Set<Relay> watches = ConcurrentHashMap.newKeySet();
    private volatile @Nullable ServiceAccountAccess access;
    private volatile String node = "";

    ProxiedRequests(Upstream upstream, RequestLog log) {
        super(request -> HttpURI.build(upstream.base())); // The path: newProxyToServerRequest
        this.upstream = upstream;
        this.link = new UpstreamLink(upstream);
        this.log = log;
        setProxyToServerHost(upstream.server().getRawAuthority());
    }

    /** Asks the server for its version like {@link UpstreamLink#version}; not recorded. */
    String serverVersion(Duration limit) {
        return link.version(getHttpClient(), limit);
    }

    void allowOnly(ServiceAccountAccess limit, String nodeOfPod) {
        node = nodeOfPod;
        access = limit;
    }

    Injection inject(Fault fault) {
        injections.removeIf(Injection::over);
        Injection injection = new Injection(fault);
        injections.add(injection);
        return injection;
    }

    /** The watches whose response has begun and not ended. */
    Set<Relay> watches() {
        return Set.copyOf(watches);
    }

    @Override
    protected HttpClient newHttpClient() {
        return link.newClient(getServer().getThreadPool());
    }

    @Override
    protected void configureHttpClient(HttpClient client) {
        super.configureHttpClient(client);
        client.setUserAgentField(null); // The driver's own is forwarded.
        client.setIdleTimeout(0); // Idle watches are the normal case.
        client.setMaxConnectionsPerDestination(MAX_CONNECTIONS);
        client.setMaxRequestHeadersSize(Connections.LONGEST_HEADERS);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        byte[] body = read(request);
        RecordedRequest recorded = log.arrived(
                request.getMethod(),
                request.getHttpURI().getPath(),
                query(request),
                text(body, request),
                client(request));
        Passage passage = new Passage(log, recorded, body, request, response);
        // The JDK's client offers h2c by the same header; that offer is simply not forwarded.
        if (request.getHeaders().contains(HttpHeader.UPGRADE, "websocket")) {
            passage.refuseWebSocket(callback);
            return true;
        }
        Optional<Refusal> refusal = refusal(recorded, request, body);
        if (refusal.isPresent()) {
            passage.forbid(refusal.get(), callback);
            return true;
        }
        Optional<Injection> injection =
                injections.stream().filter(one -> one.takes(recorded)).findFirst();
        Optional<Effect> effect = injection.map(Injection::effect);
        effect.ifPresent(passage::fault);
        if (effect.orElse(null) instanceof Effect.Delay delay) {
            hold(injection.get(), delay, request, response, callback);
        } else if (effect.isEmpty() || !ends(effect.get(), passage, callback)) {
            if (effect.orElse(null) == Effect.Plain.STALL) {
                passage.silence();
            }
            super.handle(request, response, callback);
        }
        return true;
    }

    private Optional<Refusal> refusal(RecordedRequest recorded, Request request, byte[] body) {
        ServiceAccountAccess limit = access;
        String path = request.getHttpURI().getPath();
        return limit == null
                ? Optional.empty()
                : limit.refusal(
                        recorded.method(),
                        recorded.path(),
                        recorded.query(),
                        node,
                        () -> link.object(
                                getHttpClient(), "GET", request.getHttpURI().getPathQuery(), null),
                        () -> dryRun(request, body));
    }

    /** The object that a write would make, by a dry run. */
    private JsonNode dryRun(Request request, byte[] body) {
        String query = request.getHttpURI().getQuery();
        String path = request.getHttpURI().getPath() + "?dryRun=All" + (query == null ? "" : "&" + query);
        String type = request.getHeaders().get(HttpHeader.CONTENT_TYPE);
        return link.object(getHttpClient(), request.getMethod(), path, new BytesRequestContent(type, body));
    }

    private void hold(Injection injection, Effect.Delay delay, Request request, Response response, Callback callback) {
        Passage passage = Passage.of(request);
        Injection.HeldRequest held = new Injection.HeldRequest(
                passage.recorded().method().equals("GET"),
                () -> super.handle(request, response, callback),
                () -> passage.cut(callback));
        injection.hold(held);
        getServer()
                .getScheduler()
                .schedule(() -> injection.sendOn(held), delay.duration().toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Returns whether the effect answers the request without the server. */
    private static boolean ends(Effect effect, Passage passage, Callback callback) {
        if (effect instanceof Effect.Status status) {
            passage.refuse(status, callback);
        } else if (effect == Effect.Plain.GONE) {
            passage.respondGone(callback);
        } else if (effect == Effect.Plain.DROP) {
            passage.cut(callback);
        } else {
            return false;
        }
        return true;
    }

    private static String client(Request request) {
        String agent = request.getHeaders().get(HttpHeader.USER_AGENT);
        String accepted = request.getHeaders().get(HttpHeader.ACCEPT);
        return request.getConnectionMetaData().getHttpVersion().asString()
                + (agent == null ? "" : " " + agent)
                + (accepted == null ? "" : " [" + accepted + "]");
    }

    private static byte[] read(Request request) {
        try (InputStream body = Content.Source.asInputStream(request)) {
            byte[] bytes = body.readNBytes(LONGEST_BODY);
            body.skip(LONGEST_DRAINED); // A client that is still writing would not read the response.
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException("the request's body ended early", e);
        }
    }

    private static Map<String, String> query(Request request) {
        return fields(request).stream()
                .collect(Collectors.toMap(
                        Fields.Field::getName,
                        field -> field.getValues().get(field.getValues().size() - 1)));
    }

    /** Returns nothing if the query cannot be decoded, which the API server refuses. */
    private static Fields fields(Request request) {
        try {
            return Request.extractQueryParameters(request);
        } catch (IllegalArgumentException | IllegalStateException e) { // not hex, or not UTF-8
            return Fields.EMPTY;
        }
    }

    private static String text(byte[] body, Request request) {
        String text = BodyText.of(body, request.getHeaders());
        return text.substring(0, Math.min(text.length(), LONGEST_RECORDED));
    }

    /** The path and the query are forwarded unchanged, valid or not. */
    @Override
    protected org.eclipse.jetty.client.Request newProxyToServerRequest(Request request, HttpURI server) {
        String path = request.getHttpURI().getPathQuery();
        return link.newRequest(getHttpClient(), path).method(request.getMethod());
    }

    /**
     * Only the suite's credentials are sent. Those of a client are not forwarded: it was configured for a server
     * without credentials, so its token is meant for another server, and must not be disclosed to this one.
     */
    @Override
    protected void copyRequestHeaders(Request request, org.eclipse.jetty.client.Request toServer) {
        super.copyRequestHeaders(request, toServer);
        toServer.headers(headers -> {
            headers.remove(HttpHeader.AUTHORIZATION);
            headers.remove(HttpHeader.CONTENT_LENGTH); // The length of what was read, see read().
            upstream.headers().get().forEach(headers::put);
        });
    }

    /** Keeps the driver's request without a trace of the proxy. */
    @Override
    protected void addProxyHeaders(Request request, org.eclipse.jetty.client.Request toServer) {}

    @Override
    protected org.eclipse.jetty.client.Request.Content newProxyToServerRequestContent(
            Request request, Response response, org.eclipse.jetty.client.Request toServer) {
        return new BytesRequestContent(
                request.getHeaders().get(HttpHeader.CONTENT_TYPE),
                Passage.of(request).body());
    }

    @Override
    protected CompleteListener newServerToProxyResponseListener(
            Request request, org.eclipse.jetty.client.Request toServer, Response response, Callback callback) {
        return new RelayingListener(Passage.of(request), request, toServer, response, callback);
    }

    /** The server failed, or the client is gone, or the proxy itself cut the connection. */
    @Override
    protected void onServerToProxyResponseFailure(
            Request request,
            org.eclipse.jetty.client.Request toServer,
            org.eclipse.jetty.client.Response fromServer,
            Response response,
            Callback callback,
            Throwable failure) {
        Passage.of(request).abort();
        callback.failed(failure);
    }

    /** Leaves a response's body to a {@link Relay}. */
    private final class RelayingListener extends ProxyResponseListener {

        private final Passage passage;
        private final Response toClient;
        private final Callback callback;
        private volatile @Nullable Relay relay;

        RelayingListener(
                Passage passage,
                Request request,
                org.eclipse.jetty.client.Request toServer,
                Response toClient,
                Callback callback) {
            super(request, toServer, toClient, callback);
            this.passage = passage;
            this.toClient = toClient;
            this.callback = callback;
        }

        @Override
        public void onContentSource(org.eclipse.jetty.client.Response fromServer, Content.Source source) {
            Relay begun = new Relay(passage, fromServer, source, toClient, this);
            relay = begun;
            if (passage.recorded().watch()) {
                watches.add(begun);
            }
            begun.iterate();
        }

        /** The relay sends the end itself. */
        @Override
        public void onSuccess(org.eclipse.jetty.client.Response fromServer) {}

        @Override
        public void onComplete(Result result) {
            if (relay != null) {
                watches.remove(relay);
            }
            if (isDone() && !isCompletedExceptionally()) {
                callback.succeeded(); // Even if the rest of the server's response was not wanted.
            } else {
                super.onComplete(result);
            }
        }
    }
}
