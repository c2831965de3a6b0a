// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.observe.HttpEndpoint;
import io.dra4j.runtime.internal.observe.HttpEndpoint.Probes;
import io.dra4j.runtime.internal.observe.Meters;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.regex.Pattern;

/** The endpoint of metrics and probes. */
public record HttpSettings(InetSocketAddress address, String metricsPath) {

    public static final String METRICS_PATH = "/metrics";

    private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9._~-]+)+");
    private static final List<String> PROBES = List.of("/healthz", "/readyz", "/startupz");

    public HttpSettings {
        if (!PATH.matcher(metricsPath).matches() || PROBES.contains(metricsPath)) {
            throw new DraException(("Not a path for metrics: \"%s\"; use one such as /metrics, and not that of a probe")
                    .formatted(metricsPath));
        }
    }

    /** Reads an endpoint in the form of Go programs: {@code :8080}, or {@code 127.0.0.1:8080}. */
    public static HttpSettings of(String endpoint, String metricsPath) {
        boolean anyAddress = endpoint.startsWith(":");
        try {
            URI uri = URI.create("http://" + (anyAddress ? "any" : "") + endpoint);
            if (uri.getHost() != null
                    && uri.getRawUserInfo() == null
                    && uri.getPort() >= 0
                    && endpoint.endsWith(":" + uri.getPort())) {
                return new HttpSettings(
                        anyAddress
                                ? new InetSocketAddress(uri.getPort())
                                : new InetSocketAddress(uri.getHost(), uri.getPort()),
                        metricsPath);
            }
        } catch (IllegalArgumentException e) {
            // not of that form either
        }
        throw new DraException(
                "Not an HTTP endpoint: \"%s\"; use one such as :8080 or 127.0.0.1:8080".formatted(endpoint));
    }

    public HttpEndpoint serve(Meters meters, Probes probes) {
        try {
            return HttpEndpoint.start(address, metricsPath, meters, probes);
        } catch (IOException e) {
            throw new DraException(
                    "Can't serve HTTP on %s (%s); choose another --http-endpoint".formatted(address, e.getMessage()),
                    e);
        }
    }
}
