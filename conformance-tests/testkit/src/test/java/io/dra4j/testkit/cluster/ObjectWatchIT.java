// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cluster;

import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** A collection that is watched state by state. */
class ObjectWatchIT {

    private static final String NAMESPACES = "/api/v1/namespaces";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private static JsonNode namespace(String name) {
        return tree("{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'" + name + "'}}");
    }

    private static List<String> names(List<JsonNode> objects) {
        return objects.stream().map(o -> o.at("/metadata/name").asText()).toList();
    }

    @Test
    void everyStateIsSeenFromWhatWasThereToWhatWasDeleted() throws Exception {
        try (EmbeddedApiServer api = EmbeddedApiServer.builder()
                .version(KubernetesVersion.V1_36)
                .node("n")
                .start()) {
            ApiObjects cluster = new ApiObjects(api.url());
            cluster.create(NAMESPACES, namespace("before"));
            try (ObjectWatch watch = cluster.watch(NAMESPACES, "")) {
                int first = watch.now().size();
                assertThat(names(watch.now())).contains("before");

                cluster.create(NAMESPACES, namespace("a"));
                cluster.create(NAMESPACES, namespace("b"));
                cluster.delete(NAMESPACES + "/a");

                Predicate<List<JsonNode>> onlyB =
                        now -> names(now).contains("b") && !names(now).contains("a");
                assertThat(watch.await(onlyB, TIMEOUT)).hasValue(watch.now());
                assertThat(watch.states())
                        .extracting(List::size)
                        .containsExactly(first, first + 1, first + 2, first + 1);
                assertThat(watch.await(now -> now.isEmpty(), Duration.ZERO)).isEmpty();
            }
        }
    }
}
