// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.CLAIMS;
import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.claim;
import static io.dra4j.testkit.apiserver.HttpProbe.json;
import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.Trees;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.validation.MetadataRules;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The verbs on objects, over real HTTP. */
class ObjectVerbsIT {
    @AutoClose
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder().node("node-1").start();

    private final HttpProbe http = new HttpProbe(server);

    private static String withMetadata(String object, String fields) {
        return object.replaceFirst("\"name\"", fields + "\"name\"");
    }

    private static String withStatus(String object, String status) {
        return object.replaceFirst("\\{", "{\"status\":" + status + ",");
    }

    @Nested
    class Create {
        @Test
        void givesUidVersionGenerationAndTime() {
            Answer created = http.post(SLICES, slice("s1", 1));

            assertThat(created.status()).isEqualTo(201);
            assertThat(created.resourceVersion()).matches("[0-9]+");
            assertThat(Json.text(created.body(), "metadata", "uid")).hasSize(36);
            assertThat(Json.text(created.body(), "metadata", "creationTimestamp"))
                    .endsWith("Z");
            assertThat(Json.at(created.body(), "metadata", "generation").asInt())
                    .isEqualTo(1);
            assertThat(http.get(SLICES + "/s1").body()).isEqualTo(created.body());
        }

        @Test
        void generatesANameFromATruncatedBase() {
            String base = "0000-gpu.example.com-" + "n".repeat(60) + "-";

            String generated = "\"generateName\":\"" + base + '"';
            Answer created = http.post(SLICES, slice("", 1).replace("\"name\":\"\"", generated));

            assertThat(created.status()).isEqualTo(201);
            assertThat(Json.text(created.body(), "metadata", "name"))
                    .hasSize(63)
                    .startsWith(base.substring(0, 58));
        }

        @Test
        void refusesATakenName() {
            http.post(SLICES, slice("s1", 1));

            Answer second = http.post(SLICES, slice("s1", 1));

            assertThat(second.refusal()).isEqualTo("409 AlreadyExists");
            assertThat(second.message()).isEqualTo("resourceslices.resource.k8s.io \"s1\" already exists");
        }

        @Test
        void refusesANamespaceThatIsNotThere() {
            Answer answer = http.post(CLAIMS.replace("default", "nowhere"), claim("c1"));

            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.message()).isEqualTo("namespaces \"nowhere\" not found");
        }

        @Test
        void dropsTheStatusOfAClaim() {
            String body = withStatus(claim("c1"), json("{'reservedFor':[]}"));

            assertThat(http.post(CLAIMS, body).body().path("status")).isEmpty();
        }
    }

    @Nested
    class Update {
        @Test
        void refusesAnOldResourceVersion() {
            Answer created = http.post(SLICES, slice("s1", 1));
            http.put(SLICES + "/s1", slice("s1", 2));

            String version = json("'resourceVersion':'" + created.resourceVersion() + "',");
            Answer late = http.put(SLICES + "/s1", withMetadata(slice("s1", 3), version));

            assertThat(late.refusal()).isEqualTo("409 Conflict");
            assertThat(late.message())
                    .isEqualTo("Operation cannot be fulfilled on resourceslices.resource.k8s.io \"s1\": the object has"
                            + " been modified; please apply your changes to the latest version and try again");
        }

        @Test
        void countsTheGenerationWhenTheSpecChanges() {
            http.post(SLICES, slice("s1", 1));

            Answer updated = http.put(SLICES + "/s1", slice("s1", 2));

            assertThat(Json.at(updated.body(), "metadata", "generation").asInt())
                    .isEqualTo(2);
        }

        @Test
        void thatChangesNothingKeepsTheResourceVersion() {
            Answer created = http.post(SLICES, slice("s1", 1));

            Answer updated = http.put(SLICES + "/s1", slice("s1", 1));

            assertThat(updated.body()).isEqualTo(created.body());
        }

        @Test
        void ofTheMainPartLeavesTheStatusAndTheOtherWayRound() {
            server.store().put(Trees.tree(withStatus(claim("c1"), ALLOCATION)));
            String labelled = withMetadata(claim("c1"), json("'labels':{'a':'b'},"));
            String both = withStatus(labelled, "{}");

            Answer main = http.put(CLAIMS + "/c1", both);
            Answer status = http.put(CLAIMS + "/c1/status", both.replace("\"b\"", "\"other\""));

            assertThat(Json.at(main.body(), "status", "allocation").isObject()).isTrue();
            assertThat(Json.text(main.body(), "metadata", "labels", "a")).isEqualTo("b");
            assertThat(Json.at(status.body(), "status", "allocation").isMissingNode())
                    .isTrue();
            assertThat(Json.text(status.body(), "metadata", "labels", "a")).isEqualTo("b");
        }

        @Test
        void ofAMissingObjectIsNotFound() {
            Answer answer = http.put(SLICES + "/gone", slice("gone", 1));

            assertThat(answer.refusal()).isEqualTo("404 NotFound");
            assertThat(answer.body().path("details").path("kind").asText()).isEqualTo("resourceslices");
        }
    }

    @Nested
    class Patch {
        private static final String JSON_PATCH = "application/json-patch+json";
        private static final String MERGE = "application/merge-patch+json";

        @Test
        void byOperationsAppliesAllOrNone() {
            http.post(SLICES, slice("s1", 1));
            String replace = "{'op':'replace','path':'/spec/pool/generation','value':2}";

            String test = "{'op':'test','path':'/spec/driver','value':'x'}";
            Answer refused = patch(JSON_PATCH, "[" + replace + "," + test + "]");
            Answer patched = patch(JSON_PATCH, "[" + replace + "]");

            assertThat(refused.status()).isEqualTo(422);
            assertThat(Json.at(patched.body(), "spec", "pool", "generation").asInt())
                    .isEqualTo(2);
            assertThat(Json.at(patched.body(), "metadata", "generation").asInt())
                    .isEqualTo(2);
        }

        @Test
        void thatIsNoneIsRefused() {
            http.post(SLICES, slice("s1", 1));

            String jump = "[{'op':'jump','path':'/spec'}]";
            String replaceAll = "[{'op':'replace','path':'','value':1}]";
            assertThat(List.of("{}", jump, replaceAll))
                    .allSatisfy(patch ->
                            assertThat(patch(JSON_PATCH, patch).status()).isBetween(400, 422));
            assertThat(patch(MERGE, "[]").status()).isEqualTo(400);
        }

        @Test
        void withAnOldResourceVersionConflicts() {
            Answer created = http.post(SLICES, slice("s1", 1));
            patch(MERGE, "{'metadata':{'labels':{'a':'b'}}}");

            String old = "{'metadata':{'resourceVersion':'%s'}}";
            Answer late = patch(MERGE, old.formatted(created.resourceVersion()));

            assertThat(late.status()).isEqualTo(409);
        }

        @Test
        void cannotRenameOrMove() {
            http.post(SLICES, slice("s1", 1));

            assertThat(patch(MERGE, "{'metadata':{'name':'s2'}}").status()).isEqualTo(400);
            assertThat(patch(MERGE, "{'spec':{'nodeName':'node-2'}}").status()).isEqualTo(422);
        }

        private Answer patch(String type, String patch) {
            return http.send("PATCH", SLICES + "/s1", type, json(patch));
        }
    }

    @Nested
    class Delete {
        @Test
        void honoursPreconditions() {
            Answer created = http.post(SLICES, slice("s1", 1));
            String uid = Json.text(created.body(), "metadata", "uid");

            Answer otherUid = delete("'uid':'other'");
            Answer otherVersion = delete("'uid':'" + uid + "','resourceVersion':'1'");
            Answer right = delete("'uid':'" + uid + "'");

            assertThat(otherUid.status()).isEqualTo(409);
            assertThat(otherUid.message()).contains("the UID in the precondition (other) does not match");
            assertThat(otherVersion.status()).isEqualTo(409);
            assertThat(right.status()).isEqualTo(200);
            assertThat(http.get(SLICES + "/s1").status()).isEqualTo(404);
        }

        private Answer delete(String preconditions) {
            return http.delete(SLICES + "/s1", json("{'preconditions':{" + preconditions + "}}"));
        }

        @Test
        void waitsForFinalizers() {
            http.post(SLICES, withMetadata(slice("s1", 1), json("'finalizers':['a/b'],")));

            http.delete(SLICES + "/s1", "");
            assertThat(MetadataRules.isDeleting(http.get(SLICES + "/s1").body()))
                    .isTrue();

            http.put(SLICES + "/s1", slice("s1", 1));
            assertThat(http.get(SLICES + "/s1").status()).isEqualTo(404);
        }

        @Test
        void ofALeaseAnswersAStatus() {
            String leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
            http.post(leases, json("{'metadata':{'name':'l'},'spec':{}}"));

            Answer answer = http.delete(leases + "/l", "");

            assertThat(answer.body().path("status").asText()).isEqualTo("Success");
            assertThat(Json.text(answer.body(), "details", "uid")).hasSize(36);
        }
    }

    private static final String ALLOCATION = json("{'allocation':{'devices':{'results':[{'request':'gpu',"
            + "'driver':'gpu.example.com','pool':'node-1','device':'gpu-0'}]}}}");
}
