// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.net.URI;
import java.util.Map;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The API server behind the proxy, and the proxy's credentials for it. Its text never shows the headers' values,
 * which are credentials.
 *
 * @param server for example {@code https://10.0.0.1:6443}, with a path where the API is not at the top
 * @param tls the trusted CAs and the client's certificate; null for plain HTTP
 * @param serverName the name that the server's certificate must have; empty for the URL's host
 * @param headers what each request has in place of the client's own headers of these names
 * @param origin the source of the settings, for messages; may be empty
 */
public record Upstream(
        URI server, @Nullable SSLContext tls, String serverName, Supplier<Map<String, String>> headers, String origin) {

    /**
     * Checks the URL.
     *
     * @throws IllegalArgumentException if the URL is not HTTP, or is HTTPS without a TLS context
     */
    public Upstream {
        boolean secure = "https".equals(server.getScheme());
        if (server.getHost() == null
                || server.getRawQuery() != null
                || !(secure || "http".equals(server.getScheme()))) {
            throw new IllegalArgumentException(
                    "the server must be http://HOST:PORT or https://HOST:PORT, not " + server);
        }
        if (secure != (tls != null)) {
            throw new IllegalArgumentException(server + " needs " + (secure ? "a TLS context" : "no TLS context"));
        }
    }

    /** A server of plain HTTP without authentication. */
    public static Upstream plain(URI server) {
        return new Upstream(server, null, "", Map::of, "");
    }

    /** The URL without a slash at its end, to which the path of a request is appended. */
    String base() {
        return host() + basePath();
    }

    /** The URL without its path. */
    String host() {
        return server.getScheme() + "://" + server.getRawAuthority();
    }

    /** The path of the URL without a slash at its end; empty where the API is at the top. */
    String basePath() {
        String path = server.getRawPath() == null ? "" : server.getRawPath();
        return path.replaceFirst("/+$", "");
    }

    /** The server as messages name it. */
    public String described() {
        return "The API server " + base() + (origin.isEmpty() ? "" : " of " + origin);
    }

    @Override
    public String toString() {
        return described() + ", with the headers " + headers.get().keySet();
    }
}
