// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.apply;

import static io.dra4j.rules.Trees.tree;
import static io.dra4j.testkit.apiserver.HttpProbe.CLAIMS;
import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.HttpProbe;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.Json;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Server-side apply on claims: several managers, each with fields of its own. */
class ServerSideApplyIT {
    private static final String APPLY = "application/apply-patch+yaml";
    private static final String MERGE = "application/merge-patch+json";
    private static final String GPU_0 = "'driver':'a.example.com','pool':'p','device':'gpu-0'";
    private static final String NIC_0 = "'driver':'b.example.com','pool':'p','device':'nic-0'";

    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));

    @AutoClose
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder().clock(now::get).start();

    private final HttpProbe http = new HttpProbe(server);

    @BeforeEach
    void allocate() {
        String claim = "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'c'},"
                + "'spec':{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'x'}}]}},"
                + "'status':{'allocation':{'devices':{'results':[{'request':'r',%s},{'request':'r',%s}]}}}}";
        server.store().put(tree(claim.formatted(GPU_0, NIC_0)));
    }

    private static String condition(String type, String status) {
        return "{'type':'%s','status':'%s','reason':'R','message':'m','lastTransitionTime':'2026-01-01T00:00:00Z'}"
                .formatted(type, status);
    }

    private static String status(String devices) {
        return "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'c'}"
                + (devices.isEmpty() ? "" : ",'status':{'devices':[" + devices + "]}")
                + "}";
    }

    private Answer apply(String manager, String devices) {
        return send("/c/status?fieldManager=" + manager, status(devices));
    }

    private Answer send(String path, String body) {
        return http.send("PATCH", CLAIMS + path, APPLY, HttpProbe.json(body));
    }

    private Answer applied(String manager, String devices) {
        Answer answer = apply(manager, devices);
        assertThat(answer.status()).as(answer.body().toString()).isEqualTo(200);
        return answer;
    }

    private static JsonNode devices(Answer answer) {
        return Json.at(answer.body(), "status", "devices");
    }

    private static List<String> managers(Answer answer) {
        List<String> names = new ArrayList<>();
        for (JsonNode entry : answer.body().at("/metadata/managedFields")) {
            String manager = entry.path("manager").asText() + " "
                    + entry.path("operation").asText();
            names.add(manager + " " + entry.path("subresource").asText("-"));
        }
        return names;
    }

    @Nested
    class TwoManagers {
        @Test
        void keepTheirOwnEntries() {
            applied("a", "{" + GPU_0 + ",'data':{'x':1}}");
            Answer both = applied("b", "{" + NIC_0 + ",'data':{'y':2}}");
            Answer changed = applied("a", "{" + GPU_0 + ",'data':{'x':3}}");

            assertThat(devices(both)).hasSize(2);
            assertThat(devices(changed).at("/0/data/x").asInt()).isEqualTo(3);
            assertThat(devices(changed).get(1)).isEqualTo(devices(both).get(1));
            assertThat(Json.at(changed.body(), "status", "allocation").isObject())
                    .isTrue();
            assertThat(managers(changed))
                    .containsExactlyInAnyOrder(
                            "cluster-objects Update -",
                            "cluster-objects Update status",
                            "a Apply status",
                            "b Apply status");
        }

        @Test
        void shareAnEntryConditionByCondition() {
            applied("a", "{" + GPU_0 + ",'conditions':[" + condition("Ready", "True") + "]}");
            Answer both = applied("b", "{" + GPU_0 + ",'conditions':[" + condition("Net", "True") + "]}");
            Answer oneLess = applied("a", "");
            Answer noneLeft = applied("b", "");

            assertThat(devices(both).at("/0/conditions").findValuesAsText("type"))
                    .containsExactly("Ready", "Net");
            assertThat(devices(oneLess)).hasSize(1);
            assertThat(devices(oneLess).at("/0/conditions").findValuesAsText("type"))
                    .containsExactly("Net");
            assertThat(Json.at(noneLeft.body(), "status").has("devices")).isFalse();
            assertThat(managers(noneLeft)).hasSize(2);
        }

        @Test
        void conflictOverAFieldUntilOneIsForced() {
            applied("a", "{" + GPU_0 + ",'data':{'x':1}}");

            Answer refused = apply("b", "{" + GPU_0 + ",'data':{'x':2}}");
            String other = status("{" + GPU_0 + ",'data':{'x':2}}");
            Answer forced = send("/c/status?fieldManager=b&force=true", other);
            Answer back = apply("a", "{" + GPU_0 + ",'data':{'x':1}}");

            assertThat(refused.refusal()).isEqualTo("409 Conflict");
            assertThat(refused.message())
                    .startsWith("Apply failed with 1 conflict: conflict with \"a\"")
                    .contains("subresource \"status\": ")
                    .endsWith(".status.devices[device=\"gpu-0\",driver=\"a.example.com\",pool=\"p\"].data");
            assertThat(refused.body().at("/details/causes/0/reason").asText()).isEqualTo("FieldManagerConflict");
            assertThat(forced.status()).isEqualTo(200);
            assertThat(devices(forced).at("/0/data/x").asInt()).isEqualTo(2);
            assertThat(back.message()).contains("conflict with \"b\"");
        }

        @Test
        void mayWantTheSame() {
            applied("a", "{" + GPU_0 + ",'data':{'x':1}}");
            applied("b", "{" + GPU_0 + ",'data':{'x':1}}");
            Answer one = applied("a", "");

            assertThat(devices(one).at("/0/data/x").asInt()).isEqualTo(1);
        }
    }

    @Nested
    class OneManager {
        @Test
        void whoAppliesTheSameAgainChangesNothing() {
            Answer first = applied("a", "{" + GPU_0 + ",'data':{'x':1.5}}");
            now.set(Instant.parse("2026-02-02T00:00:00Z"));
            Answer second = applied("a", "{" + GPU_0 + ",'data':{'x':1.5}}");

            assertThat(second.body()).isEqualTo(first.body());
        }

        @Test
        void whoLeavesAFieldOutRemovesIt() {
            applied("a", "{" + GPU_0 + ",'data':{'x':1},'networkData':{'interfaceName':'eth0'}}");
            Answer less = applied("a", "{" + GPU_0 + ",'data':{'x':1}}");

            assertThat(devices(less).get(0).has("networkData")).isFalse();
            assertThat(devices(less).get(0).has("data")).isTrue();
        }

        @Test
        void losesWhatAnUpdateChanges() {
            applied("a", "{" + GPU_0 + ",'data':{'x':1}}");
            http.send(
                    "PATCH",
                    CLAIMS + "/c/status?fieldManager=editor",
                    MERGE,
                    HttpProbe.json("{'status':{'devices':[{" + GPU_0 + ",'data':{'x':9}}]}}"));
            Answer refused = apply("a", "{" + GPU_0 + ",'data':{'x':1}}");

            assertThat(refused.message()).contains("conflict with \"editor\"");
        }

        @Test
        void makesAnObjectAndOwnsIt() {
            String claim =
                    "{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'new','labels':{'l':'1'}},"
                            + "'spec':{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'x'}}]}}}";

            Answer made = send("/new?fieldManager=a", claim);
            Answer unlabelled = send("/new?fieldManager=a", claim.replace(",'labels':{'l':'1'}", ""));

            assertThat(made.status()).isEqualTo(201);
            assertThat(managers(made)).containsExactly("a Apply -");
            assertThat(unlabelled.status()).isEqualTo(200);
            assertThat(Json.at(unlabelled.body(), "metadata").has("labels")).isFalse();
        }
    }

    @Nested
    class Refusals {
        @ParameterizedTest
        @CsvSource(
                delimiter = '|',
                quoteCharacter = '`',
                value = {
                    "/c/status                             | ''                        | 422 | fieldManager: Required value",
                    "/c/status?fieldManager=a              | 'managedFields':[{}],     | 400 | managedFields must be nil",
                    "/c/status?fieldManager=a              | 'uid':'u',               | 422 | field is immutable",
                    "/c/status?fieldManager=a              | 'resourceVersion':'1',   | 409 | the object has been modified",
                    "/none/status?fieldManager=a           | ''                        | 404 | not found",
                })
        void ofAppliesThatCanNotBeMeant(String path, String metadata, int status, String words) {
            String name = path.startsWith("/none") ? "none" : "c";
            String more = metadata.equals("''") ? "" : metadata;
            String named = "%s'name':'%s'".formatted(more, name);

            Answer answer = send(path, status("{" + GPU_0 + "}").replace("'name':'c'", named));

            assertThat(answer.status()).as(answer.message()).isEqualTo(status);
            assertThat(answer.message()).contains(words);
        }

        @Test
        void ofEntriesForDevicesThatAreNotAllocated() {
            Answer answer = apply("a", "{'driver':'a.example.com','pool':'p','device':'gpu-7'}");

            assertThat(answer.status()).isEqualTo(422);
            assertThat(answer.message()).contains("must be an allocated device in the claim");
        }

        @Test
        void ofForceOnOtherPatches() {
            Answer answer = http.send("PATCH", CLAIMS + "/c/status?force=true", MERGE, "{\"status\":{}}");

            assertThat(answer.status()).isEqualTo(422);
        }

        @Test
        void ofPods() {
            String pod = "/api/v1/namespaces/default/pods/p?fieldManager=a";

            assertThat(http.send("PATCH", pod, APPLY, "{}").status()).isEqualTo(415);
        }

        @Test
        void ofFieldsThatThereAreNot() {
            String odd = HttpProbe.slice("s", 1).replace("\"driver\"", "\"x\":1,\"driver\"");

            Answer answer = http.send("PATCH", SLICES + "/s?fieldManager=a", APPLY, odd);

            assertThat(answer.status()).isEqualTo(500);
            assertThat(answer.message())
                    .isEqualTo(
                            "failed to create typed patch object (/s; resource.k8s.io/v1, Kind=ResourceSlice): .spec.x: field not declared in schema");
        }
    }

    @Test
    void slicesAreAppliedAsWell() {
        String path = SLICES + "/s?fieldManager=";
        Answer made = http.send("PATCH", path + "a", APPLY, HttpProbe.slice("s", 1));
        Answer next = http.send("PATCH", path + "a", APPLY, HttpProbe.slice("s", 2));
        Answer other = http.send("PATCH", path + "b", APPLY, HttpProbe.slice("s", 3));

        assertThat(made.status()).isEqualTo(201);
        assertThat(next.body().at("/spec/pool/generation").asInt()).isEqualTo(2);
        assertThat(other.message())
                .isEqualTo("Apply failed with 1 conflict: conflict with \"a\": .spec.pool.generation");
    }

    @Test
    void whatWasThereBeforeTheFirstApplyHasAnOwner() {
        String classes = "/apis/resource.k8s.io/v1/deviceclasses";
        http.post(classes, json("{'metadata':{'name':'k'},'spec':{}}"));
        http.put(classes + "/k", json("{'metadata':{'name':'k','labels':{'a':'b'}},'spec':{}}"));
        String apply =
                "{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass','metadata':{'name':'k','labels':{'a':'c'}}}";

        Answer answer = http.send("PATCH", classes + "/k?fieldManager=a", APPLY, json(apply));

        assertThat(answer.message())
                .startsWith("Apply failed with 1 conflict: conflict with \"before-first-apply\"")
                .endsWith(": .metadata.labels.a");
    }

    @Test
    void fieldsAreWrittenAndReadAsTheApiNamesThem() {
        Answer answer = applied("a", "{" + GPU_0 + ",'data':{'x':1}}");
        JsonNode entry = answer.body().at("/metadata/managedFields/0");

        String fields =
                "{'f:status':{'f:devices':{'k:{\\\"device\\\":\\\"gpu-0\\\",\\\"driver\\\":\\\"a.example.com\\\",\\\"pool\\\":\\\"p\\\"}':"
                        + "{'.':{},'f:data':{},'f:device':{},'f:driver':{},'f:pool':{}}}}}";
        assertThat(entry.path("fieldsV1")).isEqualTo(tree(fields));
        assertThat(FieldSet.decode(entry.path("fieldsV1")).encode()).isEqualTo(entry.path("fieldsV1"));
        assertThat(entry.path("fieldsType").asText()).isEqualTo("FieldsV1");
        assertThat(entry.path("time").asText()).isEqualTo("2026-01-01T00:00:00Z");
    }
}
