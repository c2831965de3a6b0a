// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.rules.Trees.tree;
import static io.dra4j.testkit.apiserver.HttpProbe.CLAIMS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.settings.ManifestFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Claims that a program writes with their allocation, and waits for. */
class ClaimIT {
    private static final String MANIFEST = """
            apiVersion: v1
            kind: Namespace
            metadata: {name: demo}
            ---
            # a comment alone
            ---
            apiVersion: resource.k8s.io/v1
            kind: ResourceClaim
            metadata: {name: c1, namespace: default}
            spec:
              devices:
                requests:
                - name: gpu
                  firstAvailable:
                  - {name: large, deviceClassName: gpu.example.com}
            status:
              allocation:
                devices:
                  results:
                  - {request: gpu/large, driver: gpu.example.com, pool: node-1, device: gpu-0}
              reservedFor:
              - {resource: pods, name: p, uid: u}
            """;

    @AutoClose
    private final EmbeddedApiServer server = EmbeddedApiServer.builder().start();

    private final HttpProbe http = new HttpProbe(server);

    @TempDir
    private Path folder;

    private JsonNode applied() throws Exception {
        Path file = Files.writeString(folder.resolve("claim.yaml"), MANIFEST);
        List<JsonNode> objects = ManifestFiles.file("manifests", file);
        return objects.stream().map(server.store()::put).toList().get(1);
    }

    @Nested
    class Manifests {
        @Test
        void bringTheAllocationWithThem() throws Exception {
            JsonNode claim = applied();

            assertThat(JsonTrees.at(claim, "status", "allocation", "devices", "results"))
                    .hasSize(1);
            assertThat(http.get(CLAIMS + "/c1").body()).isEqualTo(claim);
            assertThat(server.store().find("namespaces", "", "demo")).isPresent();
        }

        @Test
        void canBeAppliedAgain() throws Exception {
            JsonNode first = applied();

            assertThat(applied()).isEqualTo(first);
        }

        @Test
        void thatAreInvalidAreRefused() {
            JsonNode claim = tree(
                    "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'c'},'spec':{'devices':{'requests':[{}]}}}");

            assertThatThrownBy(() -> server.store().put(claim))
                    .isInstanceOf(ApiFailure.class)
                    .hasMessageContaining("spec.devices.requests[0].name: Invalid value: \"\"");
        }
    }

    /** The allocation, which no write may change, is compared as it is decoded. */
    @ParameterizedTest
    @CsvSource({"PUT, json", "PATCH, merge-patch+json", "PATCH, apply-patch+yaml"})
    void statusIsWrittenWhereFieldsOfALaterReleaseAreStored(String method, String type) throws Exception {
        ObjectNode body = applied().deepCopy();
        body.withObject("/metadata").remove(List.of("managedFields", "resourceVersion"));
        body.withObject("/status")
                .putArray("devices")
                .add(tree("{'driver':'gpu.example.com','pool':'node-1','device':'gpu-0'}"));
        server.store()
                .changeUnchecked(
                        "resourceclaims",
                        "default",
                        "c1",
                        claim -> claim.withObject("/status/allocation").put("later", 1));

        var answer = http.send(method, CLAIMS + "/c1/status?fieldManager=d", "application/" + type, body.toString());

        assertThat(answer.body().at("/status/allocation").size())
                .as(answer.message())
                .isEqualTo(1);
    }

    @Nested
    class Waiting {
        @Test
        void seesAnObjectThatComesLater() {
            var writer = new Thread(() -> http.post(CLAIMS, HttpProbe.claim("late")));
            writer.start();

            Predicate<JsonNode> late =
                    one -> JsonTrees.text(one, "metadata", "name").equals("late");
            JsonNode claim = server.store().awaitObject("resourceclaims", late, Duration.ofSeconds(30));

            assertThat(claim.path("kind").asText()).isEqualTo("ResourceClaim");
        }

        @Test
        void saysWhatThereWasInstead() {
            Predicate<List<JsonNode>> some = pods -> !pods.isEmpty();

            assertThatThrownBy(() -> server.store().await("pods", some, Duration.ofMillis(1)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessage("after PT0.001S the pods were []");
        }
    }
}
