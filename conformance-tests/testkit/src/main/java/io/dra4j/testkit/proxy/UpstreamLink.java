// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.eclipse.jetty.client.ContentResponse;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.Request;
import org.eclipse.jetty.client.transport.HttpClientTransportDynamic;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.jspecify.annotations.Nullable;

/** The connection of the proxy to its API server, and the reasons why it fails. */
record UpstreamLink(Upstream upstream) {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final Duration LONGEST_DRY_RUN = Duration.ofSeconds(10);

    HttpClient newClient(Executor threads) {
        ClientConnector connector = new ClientConnector();
        connector.setExecutor(threads);
        if (upstream.tls() != null) {
            SslContextFactory.Client tls = new NamedServer(upstream.serverName());
            tls.setSslContext(upstream.tls());
            connector.setSslContextFactory(tls);
        }
        return new HttpClient(new HttpClientTransportDynamic(connector));
    }

    /**
     * Checks the server's certificate against a name other than that in the URL, which is also
     * the name that the server is asked for (SNI).
     */
    private static final class NamedServer extends SslContextFactory.Client {

        private final String name;

        NamedServer(String name) {
            this.name = name;
        }

        @Override
        public SSLEngine newSSLEngine(String host, int port) {
            return super.newSSLEngine(name.isEmpty() ? host : name, port);
        }
    }

    /** A request with this path and query, not changed in any way. */
    Request newRequest(HttpClient client, String pathQuery) {
        return client.newRequest(upstream.host()).path(upstream.basePath() + pathQuery);
    }

    /** The object in the server's answer, in JSON; a missing node if the request fails. */
    JsonNode object(HttpClient client, String method, String pathQuery, Request.@Nullable Content body) {
        try {
            ContentResponse response = newRequest(client, pathQuery)
                    .method(method)
                    .headers(headers -> upstream.headers().get().forEach(headers::put))
                    .headers(headers -> headers.put(HttpHeader.ACCEPT, "application/json"))
                    .body(body)
                    .timeout(LONGEST_DRY_RUN.toMillis(), TimeUnit.MILLISECONDS)
                    .send();
            return response.getStatus() < 300 ? JSON.readTree(response.getContent()) : MissingNode.getInstance();
        } catch (ExecutionException | TimeoutException | IOException e) {
            return MissingNode.getInstance(); // the request itself fails as well
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return MissingNode.getInstance();
        }
    }

    /**
     * Asks the server for its version, with the credentials.
     *
     * @return for example {@code v1.36.2}
     * @throws UpstreamException if it does not return one
     */
    String version(HttpClient client, Duration limit) {
        try {
            ContentResponse response = client.newRequest(upstream.base() + "/version")
                    .headers(headers -> upstream.headers().get().forEach(headers::put))
                    .timeout(limit.toMillis(), TimeUnit.MILLISECONDS)
                    .send();
            return version(response);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw failure("cannot be reached: " + why(cause), cause);
        } catch (TimeoutException e) {
            throw failure("did not respond within " + limit.toSeconds() + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure("was not reached: interrupted", e);
        }
    }

    private String version(ContentResponse response) {
        if (response.getStatus() == 401) {
            throw failure("does not accept the credentials (401 Unauthorized); have they expired?", null);
        }
        String version = gitVersion(response);
        if (response.getStatus() != 200 || version.isEmpty()) {
            throw failure(
                    "answered %d %s when asked for its version; is it an API server?"
                            .formatted(response.getStatus(), response.getReason()),
                    null);
        }
        return version;
    }

    private static String gitVersion(ContentResponse response) {
        try {
            JsonNode version = JSON.readTree(response.getContent());
            return version.path("gitVersion").asText();
        } catch (IOException e) {
            return ""; // The caller reports the response.
        }
    }

    private UpstreamException failure(String what, @Nullable Throwable cause) {
        return new UpstreamException(upstream.described() + " " + what, cause);
    }

    private static String why(Throwable cause) {
        if (cause instanceof SSLException) {
            return tlsFailure(cause);
        }
        if (cause instanceof UnknownHostException || cause instanceof UnresolvedAddressException) {
            return "unknown host";
        }
        if (cause instanceof SocketTimeoutException) {
            return "that address does not respond";
        }
        return cause instanceof ConnectException ? "connection refused" : cause.toString();
    }

    private static String tlsFailure(Throwable failure) {
        Throwable deepest = failure;
        while (deepest.getCause() != null) {
            deepest = deepest.getCause();
        }
        String words = String.valueOf(deepest.getMessage());
        if (words.contains("certification path")) {
            return "no trusted CA has signed its certificate (certificate-authority belongs to another server)";
        }
        if (words.contains("subject alternative")) {
            return "its certificate is for another name (" + words + "); see tls-server-name";
        }
        return words.contains("bad_certificate") || words.contains("certificate_required")
                ? "it requires a client certificate, or a different one (" + words + ")"
                : "TLS failed: " + words;
    }
}
