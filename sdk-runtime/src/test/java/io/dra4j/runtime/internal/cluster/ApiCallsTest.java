// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.runtime.internal.cluster.ApiConnections.Response;
import io.dra4j.runtime.internal.observe.Meters;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpHeaders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

class ApiCallsTest {

    @ParameterizedTest
    @CsvFileSource(
            files =
                    "src/test/resources/io/dra4j/runtime/internal/cluster/a-request-is-measured-by-its-resource-and-never-by-an-objects-name.csv",
            quoteCharacter = '\'')
    void aRequestIsMeasuredByItsResourceAndNeverByAnObjectsName(String path, String resource) {
        assertThat(ApiCalls.resource(path)).isEqualTo(resource);
    }

    @Test
    void aRequestForWhichThereIsNoThreadFailsForAWhile(@TempDir Path folder) throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            Path kubeconfig = server.kubeconfig(folder);
            ApiClient client = new ApiClient(kubeconfig, () -> ClientConfig.of(kubeconfig, "d"));
            ApiClient.Sent<String> sent = client.send(connections -> {
                throw new OutOfMemoryError("unable to create native thread");
            });

            assertThatThrownBy(() -> new ApiCalls(client, Meters.none())
                            .await(sent, "GET", System.nanoTime(), Duration.ofSeconds(1)))
                    .isInstanceOfSatisfying(
                            ClusterException.class,
                            e -> assertThat(e.isTransient()).isTrue());
            client.close();
        }
    }

    /** The namespace's file, say, is empty while it is written. */
    @Test
    void aRequestUsesTheLastCredentialsIfReadingNewOnesFailsUnexpectedly(@TempDir Path folder) throws Exception {
        try (ScriptedServer server = new ScriptedServer()) {
            Path kubeconfig = server.kubeconfig(folder);
            Config config = ClientConfig.of(kubeconfig, "d");
            AtomicInteger reads = new AtomicInteger();
            ApiClient client = new ApiClient(kubeconfig, () -> {
                if (reads.incrementAndGet() > 1) {
                    throw new UncheckedIOException(new IOException("empty"));
                }
                return config;
            });
            Files.writeString(kubeconfig, "changed");
            server.then(200, "{}");

            assertThat(new ApiCalls(client, Meters.none()).read("version", Duration.ofSeconds(20)))
                    .isEqualTo("{}");
            assertThat(reads).hasValue(2);
            client.close();
        }
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
