// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.dra4j.testkit.cluster.Cluster;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The feature gates of a real API server, by its metrics. */
class KubernetesServerTest {

    private static final String METRICS = """
            # TYPE kubernetes_feature_enabled gauge
            kubernetes_feature_enabled{name="DRAConsumableCapacity",stage=""} 1
            kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} 0
            kubernetes_feature_enabled{name="DRADeviceTaintRules",stage="BETA"} 1
            kubernetes_feature_enabled{name="WatchList",stage="BETA"} 0
            """;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    /metrics | 36 | DRADeviceTaintRules=true, DRADeviceTaints=false
                    /metrics | 37 | DRADeviceTaints=false
                    /other | 37 | not known, because /metrics can't be read
                    """)
    void areThoseThatDifferFromTheDefaultsOfItsRelease(String path, int minor, String gates) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext(path, exchange -> {
            byte[] body = METRICS.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        Cluster cluster =
                new Cluster(URI.create("http://127.0.0.1:" + server.getAddress().getPort()));

        String text = KubernetesServer.real("v1.%d.2".formatted(minor), minor, cluster)
                .text();

        server.stop(0);
        assertThat(text).isEqualTo("Kubernetes v1.%d.2, real API server; feature gates: %s".formatted(minor, gates));
    }
}
