// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.http;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** HTTP servers that stand in for a Kubernetes API server, and the way to them. */
public final class Connections {

    /** The limit of Go's HTTP server, which is that of API servers. */
    public static final int LONGEST_HEADERS = 1024 * 1024;

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

    /** Writes a kubeconfig for a server, readable by this user alone, and returns the file. */
    public static Path writeKubeconfig(Path file, URI server) throws IOException {
        Files.deleteIfExists(file);
        Files.createFile(
                file,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.writeString(
                file,
                """
                apiVersion: v1
                kind: Config
                clusters:
                - name: dra4j
                  cluster:
                    server: %s
                users:
                - name: dra4j
                  user: {}
                contexts:
                - name: dra4j
                  context:
                    cluster: dra4j
                    user: dra4j
                    namespace: default
                current-context: dra4j
                """
                        .formatted(server));
    }
}
