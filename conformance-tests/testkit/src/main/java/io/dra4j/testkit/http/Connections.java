// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.http;

import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;

/** How liberal a server is that stands in for a Kubernetes API server. */
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
}
