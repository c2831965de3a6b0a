// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import io.dra4j.testkit.http.Connections;
import io.dra4j.testkit.http.ServiceAccountFiles;
import io.dra4j.testkit.http.ServingTls;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/**
 * A reverse proxy on 127.0.0.1 in front of an API server: it records every request, and makes requests fail as
 * configured.
 *
 * <p>Clients in any language talk to it instead of the server, without credentials; the proxy adds those of the
 * {@link Upstream} and never records them. Responses are forwarded piece by piece as they arrive, so watches work as if
 * the proxy were not there. Thread-safe; {@link #close} ends all connections.
 */
public final class ApiProxy implements AutoCloseable {

    private final RequestLog log = new RequestLog(InstantSource.system());
    private final ProxiedRequests requests;
    private final Server server;
    private final Listener plain;
    private final ServingTls tls = new ServingTls();
    private final List<Listener> listeners = new ArrayList<>(); // guarded by this
    private @Nullable Listener secure; // guarded by this

    private ApiProxy(Upstream upstream, int port) {
        requests = new ProxiedRequests(upstream, log);
        server = Connections.server("dra4j-proxy", 64, new StatusErrors());
        plain = Listener.plain(server, port);
        listeners.add(plain);
        server.setHandler(requests);
    }

    /**
     * Starts a proxy on a free port in front of a server without authentication.
     *
     * @param server where the API server listens, for example {@code http://127.0.0.1:41234}
     * @throws IllegalArgumentException if that is not a URL of plain HTTP
     * @throws IllegalStateException if the proxy cannot listen
     */
    public static ApiProxy before(URI server) {
        return before(Upstream.plain(server));
    }

    /** Starts a proxy on a free port; see {@link #before(Upstream, int)}. */
    public static ApiProxy before(Upstream upstream) {
        return before(upstream, 0);
    }

    /**
     * Starts a proxy. A client that can reach the port acts with the upstream's credentials: that is any user of this
     * machine, but nobody else.
     *
     * @param port 0 for a free one
     * @throws IllegalStateException if the proxy cannot listen, because another process has the port for instance
     */
    public static ApiProxy before(Upstream upstream, int port) {
        ApiProxy proxy = new ApiProxy(upstream, port);
        try {
            proxy.server.start();
        } catch (Exception e) {
            proxy.close();
            throw new IllegalStateException("the proxy cannot listen on " + proxy.url(), e);
        }
        return proxy;
    }

    /**
     * Asks the API server for its version, on the path that requests take but without recording it, so that a failure
     * is one line, and not a failure of the driver.
     *
     * @return for example {@code v1.36.2}
     * @throws UpstreamException if the server cannot be reached or does not accept the credentials
     */
    public String serverVersion(Duration limit) {
        return requests.serverVersion(limit);
    }

    /** The URL, even while it is down. */
    public URI url() {
        return URI.create("http://127.0.0.1:" + plain.port());
    }

    /**
     * Also listens with TLS, and writes what a driver needs for that: {@code token}, {@code ca.crt} and {@code
     * namespace} of a service account. The token of a request is not forwarded, as on the other port. Written again,
     * the files are replaced atomically, as the kubelet does.
     *
     * @return the port of 127.0.0.1, the same each time
     */
    public synchronized int writeServiceAccount(Path folder, String namespace) throws IOException {
        ServiceAccountFiles.write(folder, namespace, tls.authority());
        Listener listener = secure;
        if (listener == null) {
            listener = Listener.secure(server, tls);
            listener.start();
            listeners.add(listener);
            secure = listener;
        }
        return listener.port();
    }

    /**
     * Serves new TLS connections with a certificate of another CA; open connections continue. Clients get the CA from
     * the files that {@link #writeServiceAccount} writes from now on.
     */
    public void replaceAuthority() {
        tls.replaceAuthority();
    }

    /** Closes all connections of clients, interrupting requests and watches; new ones are accepted. */
    public synchronized void closeConnections() {
        listeners.forEach(Listener::closeConnections);
    }

    /**
     * Writes a service account, as {@link #writeServiceAccount} does, and a kubeconfig with its files for the TLS port.
     *
     * @return the port
     */
    public int writeKubeconfig(Path file, Path account, String namespace) throws IOException {
        int port = writeServiceAccount(account, namespace);
        Connections.writeKubeconfig(file, URI.create("https://127.0.0.1:" + port), account);
        return port;
    }

    /** Writes a kubeconfig for the port without TLS, readable only by this user, and returns the file. */
    public Path writeKubeconfig(Path file) throws IOException {
        return Connections.writeKubeconfig(file, url());
    }

    /** All requests so far, in the order of arrival, each as far as it has progressed. */
    public List<RecordedRequest> requests() {
        return log.all();
    }

    /** All matching requests so far. */
    public List<RecordedRequest> requests(Predicate<RecordedRequest> wanted) {
        return requests().stream().filter(wanted).toList();
    }

    /** The number of the latest request; 0 if there was none. */
    public int lastNumber() {
        return log.size();
    }

    /**
     * Waits until a past or future request satisfies a condition; checks after every arrival, response and end.
     *
     * @return the first such request
     * @throws AssertionError on a timeout, with the log
     */
    public RecordedRequest await(Duration timeout, Predicate<RecordedRequest> wanted) {
        return awaitAll(timeout, all -> all.stream().anyMatch(wanted)).stream()
                .filter(wanted)
                .findFirst()
                .orElseThrow(() -> new AssertionError("the request changed again\n" + log()));
    }

    /**
     * Waits until all requests together satisfy a condition; checks after every arrival, response and end.
     *
     * @return the requests that satisfied it
     * @throws AssertionError on a timeout, with the log
     */
    public List<RecordedRequest> awaitAll(Duration timeout, Predicate<List<RecordedRequest>> wanted) {
        try {
            String late = "not within " + timeout + "; the requests:\n";
            return log.await(timeout, wanted).orElseThrow(() -> new AssertionError(late + log()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for a request", e);
        }
    }

    /**
     * Applies a fault to requests that arrive from now on. If several faults apply to a request, the first one that was
     * injected and has not ended takes effect.
     *
     * @return the active fault, to be removed
     */
    public Injection inject(Fault fault) {
        return requests.inject(fault);
    }

    /**
     * Restricts clients to the rights of a ServiceAccount; by default they may do everything.
     *
     * @param node the node of their pod, which the token names; empty if they are not on one
     */
    public void allowOnly(ServiceAccountAccess access, String node) {
        requests.allowOnly(access, node);
    }

    /** Interrupts all open watches: their connections, or their HTTP/2 streams. */
    public void cutWatches() {
        requests.watches().forEach(Relay::cut);
    }

    /** Ends all open watches with the event ERROR, 410 Gone, in the format of the watch. */
    public void expireWatches() {
        requests.watches().forEach(Relay::endGone);
    }

    /**
     * Blocks all connections that are open now, in both directions, without notifying either end, like a load balancer
     * that has forgotten them; new connections work.
     */
    public synchronized void silence() {
        listeners.forEach(Listener::silence);
    }

    /** Closes all connections, and refuses new ones. */
    public synchronized void down() {
        listeners.forEach(Listener::down);
    }

    /** Accepts connections again, on the same ports. */
    public synchronized void up() {
        listeners.forEach(Listener::up);
    }

    /** The requests so far as a table, one per line, for people. */
    public String log() {
        return LogTable.of(requests());
    }

    /** All matching requests so far, as a table. */
    public String log(Predicate<RecordedRequest> wanted) {
        return LogTable.of(requests(wanted));
    }

    @Override
    public synchronized void close() {
        try {
            for (Listener listener : listeners) {
                listener.close();
            }
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the proxy did not stop cleanly", e);
        }
    }

    /** Answers a request that is not valid HTTP with a Status, as the API server does. */
    private static final class StatusErrors extends ErrorHandler {

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            int code = request.getAttribute(ERROR_STATUS) instanceof Integer status ? status : 500;
            String message = "the proxy in front of the API server cannot read the request: "
                    + request.getAttribute(ERROR_MESSAGE);
            byte[] json =
                    WireFormat.JSON.object(Passage.status(code, code < 500 ? "BadRequest" : "InternalError", message));
            response.setStatus(code);
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, WireFormat.JSON.mediaType());
            response.getHeaders().put(HttpHeader.CONTENT_LENGTH, json.length);
            response.write(true, ByteBuffer.wrap(json), callback);
            return true;
        }
    }

    /** Prints requests for people, one per line. */
    private static final class LogTable {

        private static final DateTimeFormatter TIME =
                DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);
        private static final int LONGEST_ERROR = 200;

        private LogTable() {}

        static String of(List<RecordedRequest> requests) {
            return requests.stream().map(LogTable::line).collect(Collectors.joining("\n", "", "\n"));
        }

        private static String line(RecordedRequest request) {
            return "%4d  %s  %-6s %s  %s%s%s"
                    .formatted(
                            request.number(),
                            TIME.format(request.at()),
                            request.method(),
                            request.path() + query(request.query()),
                            request.status() == 0 ? "no response" : request.status(),
                            state(request),
                            complaint(request));
        }

        private static String query(Map<String, String> query) {
            StringJoiner text = new StringJoiner("&", "?", "").setEmptyValue("");
            new TreeMap<>(query).forEach((name, value) -> text.add(name + "=" + value));
            return text.toString();
        }

        private static String state(RecordedRequest request) {
            String time =
                    request.took().map(took -> " (" + took.toMillis() + " ms)").orElse(request.open() ? " (open)" : "");
            return request.fault().isEmpty() ? time : time + " [" + request.fault() + "]";
        }

        private static String complaint(RecordedRequest request) {
            String error = request.errorBody();
            if (error.isEmpty()) {
                return "";
            }
            return "\n      "
                    + error.substring(0, Math.min(error.length(), LONGEST_ERROR))
                            .strip();
        }
    }
}
