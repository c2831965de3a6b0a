// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.api;

import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * A process's client of the simulated API server, which ignores the host of a request.
 *
 * <p>Answers come on threads of the process. Once the process is killed, it gets nothing more; what it has sent may
 * still take effect. As with the JDK's client, cancelling the result of {@code sendAsync} ends the connection.
 */
public final class SimulatedHttpClient extends HttpClient {

    private final SimulatedApiServer server;
    private final Process process;

    public SimulatedHttpClient(SimulatedApiServer server, Process process) {
        this.server = server;
        this.process = process;
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler) {
        Call call = Call.of(request.method(), request.uri());
        Simulation.step(call.toString());
        return new Connection<>(server, process, request, call, handler).open();
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(
            HttpRequest request, BodyHandler<T> handler, @Nullable PushPromiseHandler<T> pushes) {
        return sendAsync(request, handler);
    }

    /** Unsupported: it would wait outside of the scheduler. */
    @Override
    public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler) {
        throw new UnsupportedOperationException("a simulated client sends only asynchronously");
    }

    @Override
    public Optional<CookieHandler> cookieHandler() {
        return Optional.empty();
    }

    @Override
    public Optional<Duration> connectTimeout() {
        return Optional.empty();
    }

    @Override
    public Redirect followRedirects() {
        return Redirect.NEVER;
    }

    @Override
    public Optional<ProxySelector> proxy() {
        return Optional.empty();
    }

    @Override
    public SSLContext sslContext() {
        throw new UnsupportedOperationException("a simulated client has no TLS");
    }

    @Override
    public SSLParameters sslParameters() {
        return new SSLParameters();
    }

    @Override
    public Optional<Authenticator> authenticator() {
        return Optional.empty();
    }

    @Override
    public Version version() {
        return Version.HTTP_1_1;
    }

    @Override
    public Optional<Executor> executor() {
        return Optional.empty();
    }
}
