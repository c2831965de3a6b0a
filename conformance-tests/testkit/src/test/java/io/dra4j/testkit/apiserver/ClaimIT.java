// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.rules.Trees.tree;
import static io.dra4j.testkit.apiserver.HttpProbe.CLAIMS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FeatureGate;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.Json;
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
import org.junit.jupiter.params.provider.ValueSource;

/** Claims: written by a program with their allocation, read and reported on by drivers. */
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
    private static final String TEMPLATES = CLAIMS.replace("claims", "claimtemplates");
    private static final String MERGE = "application/merge-patch+json";

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

            assertThat(Json.at(claim, "status", "allocation", "devices", "results"))
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
        void getTheDefaultsOfRequests() throws Exception {
            JsonNode request = applied().at("/spec/devices/requests/0/firstAvailable/0");

            assertThat(request.path("allocationMode").asText()).isEqualTo("ExactCount");
            assertThat(request.path("count").asInt()).isEqualTo(1);
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

    @Nested
    class Forms {
        private ObjectNode created(String collection, String spec) {
            String object =
                    tree("{'metadata':{'name':'x'},'spec':" + spec + "}").toString();
            return http.post(collection, object).body();
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "{}",
                    "{'devices':{}}",
                    "{'devices':{'requests':null}}",
                    "{'devices':{'requests':[],'constraints':[],'config':[]}}"
                })
        void ofAClaimHaveRequestsEvenIfThereAreNone(String spec) {
            ObjectNode claim = created(CLAIMS, spec);

            assertThat(claim.path("spec")).isEqualTo(tree("{'devices':{'requests':null}}"));
            assertThat(http.put(CLAIMS + "/x", claim.toString()).status()).isEqualTo(200);
            assertThat(http.get(CLAIMS + "/x").body().path("spec")).isEqualTo(claim.path("spec"));
        }

        @Test
        void ofATemplateHaveMetadataAndADevices() {
            ObjectNode template = created(TEMPLATES, "{}");

            assertThat(template.path("spec")).isEqualTo(tree("{'metadata':{},'spec':{'devices':{'requests':null}}}"));
        }

        @Test
        void ofTolerationsHaveAnOperatorAndNothingEmpty() {
            ObjectNode claim = created(
                    CLAIMS,
                    "{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'c','tolerations':[{'key':'','value':'','effect':''}]}}]}}");

            assertThat(claim.at("/spec/devices/requests/0/exactly/tolerations/0"))
                    .isEqualTo(tree("{'operator':'Equal'}"));
        }

        @Test
        void ofATemplatesMetadataHaveNothingEmpty() {
            String metadata =
                    "{'metadata':{'labels':{'a':'b'},'annotations':{},'name':'','creationTimestamp':null,'generation':0,'finalizers':[]}}";

            assertThat(created(TEMPLATES, metadata).at("/spec/metadata")).isEqualTo(tree("{'labels':{'a':'b'}}"));
        }

        @Test
        void ofATemplatesMetadataAreLabelsAndAnnotations() {
            String metadata = "{'metadata':{'annotations':{'a':'b'},'name':'n'}}";

            assertThat(created(TEMPLATES, metadata).path("message").asText())
                    .endsWith("is invalid: spec.metadata.name: Forbidden: cannot be set");
        }

        @ParameterizedTest
        @ValueSource(strings = {"", ",'conditions':[]", ",'conditions':null", ",'data':null"})
        void ofReportsHaveConditionsEvenIfThereAreNone(String more) throws Exception {
            ObjectNode claim = (ObjectNode) applied();
            String device = "'driver':'gpu.example.com','pool':'node-1','device':'gpu-0'";
            claim.withObject("/status")
                    .set("devices", tree("{'d':[{" + device + more + "}]}").path("d"));

            assertThat(http.put(CLAIMS + "/c1/status", claim.toString()).body().at("/status/devices/0"))
                    .isEqualTo(tree("{" + device + ",'conditions':null}"));
        }
    }

    @Nested
    class Status {
        @Test
        void takesReportsOnAllocatedDevices() throws Exception {
            applied();

            Answer answer = report("{'driver':'gpu.example.com','pool':'node-1','device':'gpu-0','data':{'a':1},"
                    + "'conditions':[{'type':'Ready','status':'True','reason':'Up','message':'',"
                    + "'lastTransitionTime':'2026-01-01T00:00:00Z'}]}");

            assertThat(answer.status()).isEqualTo(200);
            assertThat(Json.at(answer.body(), "status", "allocation").isObject())
                    .isTrue();
            assertThat(Json.at(answer.body(), "status", "devices")).hasSize(1);
        }

        @ParameterizedTest
        @CsvSource(
                delimiter = '|',
                value = {
                    "'device':'gpu-1'                                      | status.devices[0]",
                    "'device':'gpu-0','data':[]                            | status.devices[0].data",
                    "'device':'gpu-0','networkData':{'ips':['10.0.0.1']}   | status.devices[0].networkData.ips[0]",
                    "'device':'gpu-0','conditions':[{'type':'R','status':'True',"
                            + "'lastTransitionTime':'2026-01-01T00:00:00Z'}] | status.devices[0].conditions[0].reason",
                    "'device':'gpu-0','conditions':[{'type':'R','status':'Yes','reason':'a',"
                            + "'lastTransitionTime':'2026-01-01T00:00:00Z'}] | status.devices[0].conditions[0].status",
                },
                quoteCharacter = '`')
        void refusesABadReport(String fields, String field) throws Exception {
            applied();

            Answer answer = report("{'driver':'gpu.example.com','pool':'node-1'," + fields + "}");

            assertThat(answer.status()).isEqualTo(422);
            assertThat(answer.body().path("details").path("causes").findValuesAsText("field"))
                    .containsExactly(field);
        }

        @Test
        void cannotChangeAnAllocationOnlyRemoveIt() throws Exception {
            applied();
            report("{'driver':'gpu.example.com','pool':'node-1','device':'gpu-0'}");
            String other = "{'status':{'allocation':{'devices':{'results':[{'request':'gpu/large',"
                    + "'driver':'gpu.example.com','pool':'node-1','device':'gpu-7'}]}}}}";

            Answer changed = patchStatus(other);
            Answer removed = patchStatus("{'status':{'allocation':null,'reservedFor':null}}");

            assertThat(changed.status()).isEqualTo(422);
            assertThat(removed.status()).isEqualTo(200);
            assertThat(Json.at(removed.body(), "status").has("devices")).isFalse();
        }

        @Test
        void losesReportsWhileTheGateIsOff() {
            try (EmbeddedApiServer off = EmbeddedApiServer.builder()
                    .featureGate(FeatureGate.DRA_RESOURCE_CLAIM_DEVICE_STATUS, false)
                    .start()) {
                JsonNode claim = tree(
                        "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'c'},'spec':{},'status':{'devices':[{'driver':'d'}]}}");

                assertThat(off.store().put(claim).path("status").has("devices")).isFalse();
            }
        }

        private Answer report(String device) {
            return patchStatus("{'status':{'devices':[" + device + "]}}");
        }

        private Answer patchStatus(String patch) {
            return http.send("PATCH", CLAIMS + "/c1/status", MERGE, HttpProbe.json(patch));
        }
    }

    @Nested
    class Spec {
        @Test
        void isImmutable() throws Exception {
            applied();

            String empty = HttpProbe.json("{'spec':{'devices':{'requests':[]}}}");
            Answer answer = http.send("PATCH", CLAIMS + "/c1", MERGE, empty);

            assertThat(answer.status()).isEqualTo(422);
            assertThat(answer.message()).contains("spec: Invalid value").contains("field is immutable");
        }
    }

    @Nested
    class Waiting {
        @Test
        void seesAnObjectThatComesLater() {
            var writer = new Thread(() -> http.post(CLAIMS, HttpProbe.claim("late")));
            writer.start();

            Predicate<JsonNode> late = one -> Json.text(one, "metadata", "name").equals("late");
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
