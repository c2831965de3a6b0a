// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.rules.KubernetesVersion.V1_36;
import static io.dra4j.rules.KubernetesVersion.V1_37;
import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Trees;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.Json;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** DeviceTaintRules: one store, and up to three versions that it is seen in. */
@Timeout(60)
class DeviceTaintRuleIT {
    private static final String GROUP = "/apis/resource.k8s.io/";
    private static final String MERGE = "application/merge-patch+json";
    private static final List<String> VERSIONS = List.of("v1", "v1beta2", "v1alpha3");

    /** The time of the server, which a test moves on. */
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    @AutoClose
    private final EmbeddedApiServer server = EmbeddedApiServer.builder()
            .version(V1_37)
            .preReleaseVersions()
            .clock(() -> now)
            .start();

    private final HttpProbe http = new HttpProbe(server);

    private static String rules(String version) {
        return GROUP + version + "/devicetaintrules";
    }

    private static String rule(String version, String spec) {
        return HttpProbe.json(
                "{'apiVersion':'resource.k8s.io/%s','kind':'DeviceTaintRule','metadata':{'name':'r'},'spec':%s}"
                        .formatted(version, spec));
    }

    private static String tainting(String selector) {
        return "{'deviceSelector':" + selector + ",'taint':{'key':'k','effect':'NoSchedule'}}";
    }

    @Nested
    class Versions {
        @ParameterizedTest
        @CsvSource({"V1_36, false", "V1_37, true"})
        void areOnlyTheStableOneByDefault(KubernetesVersion release, boolean served) {
            try (EmbeddedApiServer plain =
                    EmbeddedApiServer.builder().version(release).start()) {
                HttpProbe http = new HttpProbe(plain);

                assertThat(http.get(rules("v1")).status()).isEqualTo(served ? 200 : 404);
                assertThat(http.get(rules("v1beta2")).status()).isEqualTo(404);
                assertThat(http.get(GROUP + "v1alpha3").status()).isEqualTo(404);
            }
        }

        @Test
        void areTwoIn136WhereTheyAreSwitchedOn() {
            try (EmbeddedApiServer older = EmbeddedApiServer.builder()
                    .version(V1_36)
                    .preReleaseVersions()
                    .start()) {
                older.store().put(tree(rule("v1alpha3", tainting("{}"))));

                assertThat(new HttpProbe(older).get(rules("v1beta2") + "/r").text("apiVersion"))
                        .isEqualTo("resource.k8s.io/v1beta2");
                assertThat(new HttpProbe(older).get(rules("v1")).status()).isEqualTo(404);
            }
        }

        @ParameterizedTest
        @ValueSource(strings = {"v1", "v1beta2", "v1alpha3"})
        void showWhatAnyOfThemWrote(String written) throws Exception {
            Answer made = http.post(rules(written), rule(written, tainting("{'pool':'p'}")));

            assertThat(made.status()).isEqualTo(201);
            assertThat(made.text("apiVersion")).isEqualTo("resource.k8s.io/" + written);
            for (String version : VERSIONS) {
                String apiVersion = "resource.k8s.io/" + version;
                for (String accept : List.of(HttpProbe.JSON, HttpProbe.PROTOBUF)) {
                    JsonNode one = http.get(rules(version) + "/r", accept).body();
                    JsonNode list = http.get(rules(version), accept).body();

                    assertThat(one.path("apiVersion").asText()).isEqualTo(apiVersion);
                    assertThat(list.path("apiVersion").asText()).isEqualTo(apiVersion);
                    assertThat(one.at("/spec/deviceSelector/pool").asText()).isEqualTo("p");
                    assertThat(list.at("/items/0/spec")).isEqualTo(one.path("spec"));
                }
                try (HttpProbe.Stream watch = http.watch(rules(version) + "?watch=true")) {
                    assertThat(Json.text(watch.next(), "object", "apiVersion")).isEqualTo(apiVersion);
                }
            }
        }

        @Test
        void canBeMixedInWrites() {
            http.post(rules("v1"), rule("v1", tainting("{}")));
            String patch = "{'apiVersion':'resource.k8s.io/v1alpha3','metadata':{'labels':{'a':'b'}}}";

            Answer put = http.put(rules("v1beta2") + "/r", rule("v1beta2", tainting("null")));
            Answer patched = http.send("PATCH", rules("v1alpha3") + "/r", MERGE, HttpProbe.json(patch));
            Answer deleted = http.delete(rules("v1beta2") + "/r", "");

            assertThat(put.body().at("/spec/deviceSelector").isMissingNode()).isTrue();
            assertThat(patched.text("metadata", "labels", "a")).isEqualTo("b");
            assertThat(deleted.text("apiVersion")).isEqualTo("resource.k8s.io/v1beta2");
            assertThat(http.get(rules("v1")).body().path("items")).isEmpty();
        }

        @Test
        void ofABodyAndItsPathMustAgree() {
            Answer answer = http.post(rules("v1alpha3"), rule("v1", tainting("{}")));

            assertThat(answer.refusal()).isEqualTo("400 BadRequest");
        }

        @Test
        void areDiscovered() {
            JsonNode group = http.get("/apis/resource.k8s.io").body();
            JsonNode beta = http.get(GROUP + "v1beta2").body();
            JsonNode openApi = http.get("/openapi/v3" + GROUP + "v1alpha3").body();

            assertThat(group.path("versions").findValuesAsText("version")).containsExactlyElementsOf(VERSIONS);
            assertThat(Json.text(group, "preferredVersion", "version")).isEqualTo("v1");
            assertThat(beta.path("resources").findValuesAsText("name"))
                    .containsExactly("devicetaintrules", "devicetaintrules/status");
            assertThat(openApi.path("paths").has(rules("v1alpha3"))).isTrue();
        }
    }

    @Nested
    class Rules {
        @ParameterizedTest
        @CsvSource(
                delimiter = '|',
                quoteCharacter = '`',
                value = {
                    "{'taint':{'key':'','effect':'None'}}                   | spec.taint.key",
                    "{'taint':{'key':'k'}}                                  | spec.taint.effect",
                    "{'taint':{'key':'k','effect':'Prefer'}}                | spec.taint.effect",
                    "{'taint':{'key':'k','value':'a b','effect':'None'}}    | spec.taint.value",
                    "{'deviceSelector':{'driver':'a_b'},'taint':{'key':'k','effect':'None'}} |"
                            + " spec.deviceSelector.driver",
                    "{'deviceSelector':{'pool':'a//b'},'taint':{'key':'k','effect':'None'}} |"
                            + " spec.deviceSelector.pool",
                    "{'deviceSelector':{'device':'A'},'taint':{'key':'k','effect':'None'}} |"
                            + " spec.deviceSelector.device",
                })
        void refuseABadSpec(String spec, String field) {
            Answer answer = http.post(rules("v1"), rule("v1", spec));

            assertThat(answer.refusal()).isEqualTo("422 Invalid");
            assertThat(answer.body().at("/details/causes").findValuesAsText("field"))
                    .containsOnly(field);
        }

        @Test
        void keepTheStatusApart() {
            String status = "'status':{'conditions':[%s]}";
            String condition =
                    "{'type':'EvictionInProgress','status':'True','reason':'R','message':'','lastTransitionTime':'2026-01-01T00:00:00Z'}";
            http.post(rules("v1"), rule("v1", tainting("{}")));

            Answer ninth = patchStatus("{"
                    + status.formatted(Trees.repeat(",", 9, i -> condition.replace("'E", "'" + i + "E")))
                    + "}");
            Answer one = patchStatus("{" + status.formatted(condition) + "}");
            Answer put = http.put(rules("v1") + "/r", rule("v1", tainting("{'pool':'p'}")));

            assertThat(ninth.status()).isEqualTo(422);
            assertThat(one.body().at("/metadata/generation").asInt()).isEqualTo(1);
            assertThat(put.body().at("/metadata/generation").asInt()).isEqualTo(2);
            assertThat(put.body().at("/status/conditions")).hasSize(1);
        }

        private Answer patchStatus(String patch) {
            return http.send("PATCH", rules("v1") + "/r/status", MERGE, HttpProbe.json(patch));
        }

        @Test
        void giveATaintTheTimeOfItsEffect() {
            String path = rules("v1") + "/r";
            http.post(rules("v1"), rule("v1", tainting("{}")));

            now = now.plusSeconds(60);
            patch(path, "{'spec':{'taint':{'value':'v'}}}");
            assertThat(timeAdded(path)).isEqualTo("2026-01-01T00:00:00Z");

            patch(path, "{'spec':{'taint':{'effect':'NoExecute'}}}");
            assertThat(timeAdded(path)).isEqualTo("2026-01-01T00:01:00Z");

            patch(path, "{'spec':{'taint':{'effect':'None','timeAdded':'2025-01-01T00:00:00Z'}}}");
            assertThat(timeAdded(path)).isEqualTo("2025-01-01T00:00:00Z");
        }

        private void patch(String path, String patch) {
            assertThat(http.send("PATCH", path, MERGE, HttpProbe.json(patch)).status())
                    .isEqualTo(200);
        }

        private String timeAdded(String path) {
            return http.get(path).text("spec", "taint", "timeAdded");
        }
    }
}
