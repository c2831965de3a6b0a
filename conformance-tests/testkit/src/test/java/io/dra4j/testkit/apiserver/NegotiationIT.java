// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.CLAIMS;
import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.claim;
import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Content negotiation by headers, and the paths around the objects. */
class NegotiationIT {
    @AutoClose
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder().version(KubernetesVersion.V1_35).start();

    private final HttpProbe http = new HttpProbe(server);

    @Nested
    class MediaTypes {
        @Test
        void yamlIsForAllButWatches() {
            http.post(SLICES, slice("s1", 1));
            String yaml = "application/yaml";

            assertThat(http.get(SLICES, yaml).text("text")).contains("kind: \"ResourceSliceList\"");
            assertThat(http.get(SLICES + "/s2", yaml).text("text")).contains("code: 404");
            assertThat(http.get(SLICES + "?watch=1", yaml).message())
                    .isEqualTo(
                            "only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch");
        }

        @Test
        void aYamlBodyIsRead() {
            String yaml = "metadata: {name: d}\nspec: {}\n";

            String classes = "/apis/resource.k8s.io/v1/deviceclasses";
            Answer created = http.send("POST", classes, "application/yaml", yaml);

            assertThat(created.status()).isEqualTo(201);
        }

        @Test
        void metadataAloneCanBeHad() {
            http.post(SLICES, slice("s1", 1));

            String metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
            Answer list = http.get(SLICES, metadata + ",application/json");

            assertThat(list.body().path("kind").asText()).isEqualTo("PartialObjectMetadataList");
            assertThat(list.body().path("items").get(0).has("spec")).isFalse();
        }

        @Test
        void claimsCanBeHadAsATable() {
            http.post(CLAIMS, claim("c1"));

            String asTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
            Answer table = http.get(CLAIMS, asTable);

            assertThat(table.body().path("rows").get(0).path("cells").get(1).asText())
                    .isEqualTo("pending");
        }
    }

    @Nested
    class Paths {
        @ParameterizedTest
        @ValueSource(
                strings = {
                    "/apis/resource.k8s.io/v1beta1/resourceslices",
                    "/apis/resource.k8s.io/v1/nothing",
                    "/api/v1/namespaces/default/nodes",
                    "/apis/resource.k8s.io/v1/resourceslices/s1/status"
                })
        void thatAreUnknownAreNotFound(String path) {
            Answer answer = http.get(path);

            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.body().path("kind").asText()).isEqualTo("Status");
            assertThat(answer.message()).isEqualTo("the server could not find the requested resource");
        }

        @ParameterizedTest
        @ValueSource(strings = {"/metrics", "/apis/nothing.k8s.io/v1", "/healthz/x"})
        void thatAreNotOfTheApiAreText(String path) {
            assertThat(http.get(path).status()).isEqualTo(404);
            assertThat(http.get(path).text("text")).isEqualTo("404 page not found\n");
        }

        @Test
        void takeNoOtherMethods() {
            assertThat(http.put(SLICES, "{}").status()).isEqualTo(405);
        }

        @Test
        void tellTheVersionAndHealth() {
            assertThat(http.get("/version").body().path("minor").asText()).isEqualTo("35");
            assertThat(http.get("/readyz").body().path("text").asText()).isEqualTo("ok");
        }

        @Test
        void tellTheResourcesInBothForms() {
            Answer legacy = http.get("/apis/resource.k8s.io/v1");
            String together = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
            Answer aggregated = http.get("/apis", together + ",application/json");

            assertThat(legacy.body().path("resources").findValuesAsText("name"))
                    .contains("resourceclaims", "resourceclaims/status", "resourceslices");
            assertThat(aggregated.contentType()).isEqualTo(together);
            assertThat(aggregated.body().findValuesAsText("resource")).contains("resourceslices", "leases");
        }
    }

    @Nested
    class Bodies {
        @Test
        void withUnknownFieldsLoseThemWithAWarningOrAreRefused() {
            String odd = slice("s1", 1).replace("\"devices\"", "\"skipNodeOperations\":[\"*\"],\"devices\"");

            Answer strict = http.post(SLICES + "?fieldValidation=Strict", odd);
            Answer lenient = http.post(SLICES, odd);

            assertThat(strict.status()).isEqualTo(400);
            assertThat(strict.message()).contains("strict decoding error: unknown field \"spec.skipNodeOperations\"");
            assertThat(lenient.status()).isEqualTo(201);
            assertThat(lenient.body().path("spec").has("skipNodeOperations")).isFalse();
        }

        @Test
        void thatAreInvalidBringTheCauses() {
            Answer answer = http.post(SLICES, slice("s1", -1).replace("gpu-0", "GPU"));

            assertThat(answer.refusal()).isEqualTo("422 Invalid");
            assertThat(answer.message()).startsWith("ResourceSlice.resource.k8s.io \"s1\" is invalid: [spec.pool");
            assertThat(answer.body().path("details").path("causes").findValuesAsText("field"))
                    .containsExactly("spec.pool.generation", "spec.devices[0].name");
        }

        @Test
        void thatAreNoJsonAreBadRequests() {
            assertThat(http.post(SLICES, "{").status()).isEqualTo(400);
            assertThat(http.post(SLICES, "[]").status()).isEqualTo(400);
        }

        @Test
        void ofDryRunsLeaveNothing() {
            assertThat(http.post(SLICES + "?dryRun=All", slice("s1", 1)).status())
                    .isEqualTo(201);
            assertThat(http.get(SLICES + "/s1").status()).isEqualTo(404);
        }
    }
}
