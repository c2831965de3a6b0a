// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cluster;

import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.proxy.ProxyHandler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/**
 * A front for the embedded API server like that of a real one: TLS, with a required client certificate and token; also
 * below the path {@code /k8s/one}.
 */
public final class TlsFront implements AutoCloseable {

    private static final String PREFIX = "/k8s/one";

    private final Server server = new Server();
    private final ServerConnector connector;
    private final String token;
    private final List<String> authorizations = new CopyOnWriteArrayList<>();

    public TlsFront(URI api, TestKeys own, TestKeys client, String token) throws Exception {
        this.token = token;
        SslContextFactory.Server tls = new SslContextFactory.Server();
        tls.setKeyStore(own.store());
        tls.setKeyStorePassword(TestKeys.PASSWORD);
        tls.setTrustStore(TestKeys.trusting(client));
        tls.setNeedClientAuth(true);
        tls.setSniRequired(false);
        HttpConfiguration http = new HttpConfiguration();
        http.addCustomizer(new SecureRequestCustomizer(false)); // Go's server does not check it.
        connector =
                new ServerConnector(server, new SslConnectionFactory(tls, "http/1.1"), new HttpConnectionFactory(http));
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(new Guarded(api));
        server.start();
    }

    public String url() {
        return "https://127.0.0.1:" + connector.getLocalPort();
    }

    String urlWithPath() {
        return url() + PREFIX + "/";
    }

    /** A kubeconfig with these lines of its cluster and of its user, and with contexts that miss one of them. */
    public static String kubeconfig(String cluster, String user) {
        return """
                apiVersion: v1
                kind: Config
                current-context: one
                contexts:
                - name: one
                  context: {cluster: there, user: me}
                - name: nowhere
                  context: {cluster: lost, user: me}
                - name: nobody
                  context: {cluster: there, user: lost}
                clusters:
                - name: there
                  cluster:
                    %s
                users:
                - name: me
                  user:
                    %s
                """.formatted(cluster, user);
    }

    /** The header Authorization of each request. */
    public List<String> authorizations() {
        return List.copyOf(authorizations);
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("the front did not stop", e);
        }
    }

    private final class Guarded extends ProxyHandler.Reverse {

        Guarded(URI api) {
            super(request -> HttpURI.build(api + withoutPrefix(request.getHttpURI())));
        }

        private static String withoutPrefix(HttpURI sent) {
            return sent.getPathQuery().replaceFirst("^" + PREFIX, "");
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            List<String> sent = request.getHeaders().getValuesList(HttpHeader.AUTHORIZATION);
            authorizations.addAll(sent);
            if (sent.equals(List.of("Bearer " + token))) {
                return super.handle(request, response, callback);
            }
            response.setStatus(401);
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
            String status = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                    + "\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}";
            response.write(true, ByteBuffer.wrap(status.getBytes(StandardCharsets.UTF_8)), callback);
            return true;
        }
    }
}
