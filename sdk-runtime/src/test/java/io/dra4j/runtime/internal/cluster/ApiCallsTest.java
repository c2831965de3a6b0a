// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.internal.cluster.ApiConnections.Response;
import io.dra4j.runtime.internal.observe.Meters;
import java.net.http.HttpHeaders;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ApiCallsTest {

    @ParameterizedTest
    @CsvSource({
        "api/v1/nodes/node-1, nodes",
        "api/v1/namespaces/default/events, events",
        "api/v1/namespaces/default, namespaces",
        "apis/resource.k8s.io/v1/resourceslices?fieldSelector=a/b, resourceslices",
        "apis/resource.k8s.io/v1/resourceslices/0000-x, resourceslices",
        "apis/resource.k8s.io/v1/namespaces/n/resourceclaims/c, resourceclaims",
        "apis/resource.k8s.io/v1/namespaces/n/resourceclaims/c/status?force=true," + " resourceclaims/status",
        "apis/resource.k8s.io/v1, discovery",
        "version, discovery"
    })
    void aRequestIsMeasuredByItsResourceAndNeverByAnObjectsName(String path, String resource) {
        assertThat(ApiCalls.resource(path)).isEqualTo(resource);
    }

    @Test
    void anAnswerThatComesWithTheEndOfItsTimeCounts(@TempDir Path folder) throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            Path kubeconfig = server.kubeconfig(folder);
            ApiClient client = new ApiClient(kubeconfig, () -> ClientConfig.of(kubeconfig, "d"));
            Response<String> response = new Response<>(200, HttpHeaders.of(Map.of(), (name, value) -> true), "");
            ApiClient.Sent<String> sent = client.send(connections -> new CompletableFuture<>() {
                @Override
                public boolean cancel(boolean mayInterrupt) {
                    complete(response);
                    return super.cancel(mayInterrupt);
                }
            });

            assertThat(new ApiCalls(client, Meters.none()).await(sent, "GET", System.nanoTime(), Duration.ZERO))
                    .isSameAs(response);
            client.close();
        }
    }
}
