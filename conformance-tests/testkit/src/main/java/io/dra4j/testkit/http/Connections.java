// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.http;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** HTTP servers that stand in for a Kubernetes API server, and how to reach them. */
public final class Connections {

    /** The limit of Go's HTTP server, which is that of API servers. */
    public static final int LONGEST_HEADERS = 1024 * 1024;

    /** The number of concurrent requests and watches on an HTTP/2 connection, as in kube-apiserver. */
    private static final int STREAMS = 100;

    private static final Pattern SERVER = Pattern.compile("server: (http://127\\.0\\.0\\.1:\\d+)\n");

    private Connections() {}

    /** Takes each path that Go's HTTP server takes, and headers of any usual length. */
    public static HttpConfiguration configuration() {
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setUriCompliance(UriCompliance.UNSAFE); // Paths are read as they were sent.
        http.setRequestHeaderSize(LONGEST_HEADERS);
        return http;
    }

    /** A server without connectors, whose threads have this name. */
    public static Server server(String name, int threads, ErrorHandler errors) {
        QueuedThreadPool pool = new QueuedThreadPool(threads, 4);
        pool.setName(name);
        pool.setDaemon(true);
        pool.setStopTimeout(500);
        Server server = new Server(pool);
        server.setStopTimeout(0);
        server.setErrorHandler(errors);
        return server;
    }

    /** TLS connections, with HTTP/2 or HTTP/1.1 as the client chooses (ALPN). */
    public static ConnectionFactory[] secure(ServingTls tls, HttpConfiguration http) {
        ALPNServerConnectionFactory alpn = new ALPNServerConnectionFactory("h2", "http/1.1");
        alpn.setDefaultProtocol("http/1.1");
        HTTP2ServerConnectionFactory http2 = new HTTP2ServerConnectionFactory(http);
        http2.setMaxConcurrentStreams(STREAMS);
        return new ConnectionFactory[] {
            new SslConnectionFactory(tls.settings(), alpn.getProtocol()), alpn, http2, new HttpConnectionFactory(http)
        };
    }

    /**
     * Writes a kubeconfig for a server, readable only by this user, and returns the file.
     *
     * <p>The file is written atomically, and replaces an existing one.
     */
    public static Path writeKubeconfig(Path file, URI server) throws IOException {
        return writeKubeconfig(file, kubeconfig(server, "", ""));
    }

    /** Writes a kubeconfig for a server that names the CA and the token of {@link ServiceAccountFiles}. */
    public static Path writeKubeconfig(Path file, URI server, Path account) throws IOException {
        Path folder = file.toAbsolutePath().resolveSibling("").relativize(account.toAbsolutePath());
        String authority = "\n    certificate-authority: " + folder.resolve("ca.crt");
        return writeKubeconfig(file, kubeconfig(server, authority, "tokenFile: " + folder.resolve("token")));
    }

    /** Writes a kubeconfig for a server whose certificate a CA, in PEM, has signed. */
    public static Path writeKubeconfig(Path file, URI server, String authority) throws IOException {
        byte[] pem = authority.getBytes(StandardCharsets.US_ASCII);
        String data = Base64.getEncoder().encodeToString(pem);
        return writeKubeconfig(file, kubeconfig(server, "\n    certificate-authority-data: " + data, ""));
    }

    private static Path writeKubeconfig(Path file, String content) throws IOException {
        Path made = Files.createTempFile(
                file.toAbsolutePath().getParent(),
                "." + file.getFileName(),
                ".tmp",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            Files.writeString(made, content);
            return Files.move(made, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(made);
        }
    }

    /** Returns whether a file is a kubeconfig as this class writes it, for any port. */
    public static boolean wroteKubeconfig(Path file) throws IOException {
        Matcher server = SERVER.matcher(Files.readString(file));
        return server.find() && Files.readString(file).equals(kubeconfig(URI.create(server.group(1)), "", ""));
    }

    private static String kubeconfig(URI server, String authority, String user) {
        return """
               apiVersion: v1
               kind: Config
               clusters:
               - name: dra4j
                 cluster:
                   server: %s%s
               users:
               - name: dra4j
                 user: {%s}
               contexts:
               - name: dra4j
                 context:
                   cluster: dra4j
                   user: dra4j
                   namespace: default
               current-context: dra4j
               """.formatted(server, authority, user);
    }
}
