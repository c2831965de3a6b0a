// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.CLAIMS;
import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.claim;
import static io.dra4j.testkit.apiserver.HttpProbe.json;
import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.proxy.ApiProxy;
import java.io.IOException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The writes of a driver with client-go, and their refusals, by hand and through the proxy, on one
 * connection.
 */
@Timeout(60)
class ClientGoWritesIT {

    private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    private static final String NOT_FOUND = "the server could not find the requested resource";

    @AutoClose
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder().node("node-1").start();

    @AutoClose
    private final ApiProxy proxy = ApiProxy.before(server.url());

    @AutoClose
    private final GoConnection go = new GoConnection(proxy.url());

    @Nested
    class Writes {

        @Test
        void takeTheFormOfGosObjects() throws Exception {
            String body = json("{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1','metadata':{'generateName':"
                    + "'node-1-gpu.example.com-','creationTimestamp':null},'spec':{'driver':"
                    + "'gpu.example.com','pool':{'name':'node-1','generation':1,'resourceSliceCount':1},"
                    + "'nodeName':'node-1','devices':[{'name':'gpu-0'}]}}\n");

            Answer created = go.send("POST", SLICES, body);

            assertThat(created.status()).isEqualTo(201);
            assertThat(created.text("metadata", "name")).startsWith("node-1-gpu.example.com-");
        }

        @Test
        void mayWaitForTheServerToWantThem() throws Exception {
            assertThat(go.sendExpecting(CLAIMS, claim("c1")).status()).isEqualTo(201);
            assertThat(go.get(CLAIMS + "/c1").status()).isEqualTo(200);
        }

        @Test
        void areDeletedWithOptionsInTheBody() throws Exception {
            Answer created = go.send("POST", CLAIMS, claim("c1"));
            String options =
                    json("{'kind':'DeleteOptions','apiVersion':'resource.k8s.io/v1','preconditions':{'uid':'%s'}}\n");

            Answer other = go.send("DELETE", CLAIMS + "/c1", options.formatted("another"));
            String own = options.formatted(created.text("metadata", "uid"));
            Answer deleted = go.send("DELETE", CLAIMS + "/c1", own);

            assertThat(other.refusal()).isEqualTo("409 Conflict");
            assertThat(deleted.status()).isEqualTo(200);
        }

        @Test
        void areDeletedTogetherOnlyWhenThatIsMeant() throws Exception {
            go.send("POST", SLICES, slice("s1", 1));
            go.send("POST", SLICES, slice("s2", 1).replace("node-1", "node-2"));
            String ours = SLICES + "?fieldSelector=spec.nodeName%3Dnode-1";

            Answer tried = go.send("DELETE", ours, json("{'kind':'DeleteOptions','dryRun':['All']}"));
            assertThat(tried.body().path("items")).hasSize(1);
            assertThat(go.get(SLICES).body().path("items")).hasSize(2);
            Answer deleted = go.send("DELETE", ours, "");

            assertThat(deleted.status()).isEqualTo(200);
            assertThat(go.get(SLICES).body().path("items").findValuesAsText("nodeName"))
                    .containsExactly("node-2");
        }

        @Test
        void areAppliedToAClaimsStatus() throws Exception {
            go.send("POST", CLAIMS, claim("c1"));
            String status = json("{'kind':'ResourceClaim','apiVersion':'resource.k8s.io/v1','metadata':{'name':'c1',"
                    + "'namespace':'default'},'status':{'devices':[]}}");

            String path = CLAIMS + "/c1/status?fieldManager=gpu.example.com&force=true";
            Answer applied = go.send("PATCH", path, "application/apply-patch+yaml", status);

            assertThat(applied.status()).isEqualTo(200);
        }

        @Test
        void arePatchedInThreeForms() throws Exception {
            go.send("POST", CLAIMS, claim("c1"));
            patch("merge-patch", "{'metadata':{'labels':{'a':'1'}}}");
            patch("strategic-merge-patch", "{'metadata':{'labels':{'b':'2'}}}");
            patch("json-patch", "[{'op':'add','path':'/metadata/labels/c','from':'','value':'3'}]");

            assertThat(go.get(CLAIMS + "/c1").body().at("/metadata/labels"))
                    .isEqualTo(Json.object().put("a", "1").put("b", "2").put("c", "3"));
        }

        @Test
        void mayReplaceTheWholeObject() throws Exception {
            go.send("POST", CLAIMS, claim("c1"));
            ObjectNode whole = go.get(CLAIMS + "/c1").body();
            ((ObjectNode) whole.get("metadata")).putObject("labels").put("a", "1");
            String patch = "[{'op':'replace','path':'','value':%s}]".formatted(whole);

            patch("json-patch", patch);

            assertThat(go.get(CLAIMS + "/c1").body().at("/metadata/labels/a").asText())
                    .isEqualTo("1");
        }

        private void patch(String form, String patch) throws IOException {
            String type = "application/" + form + "+json";
            assertThat(go.send("PATCH", CLAIMS + "/c1", type, json(patch)).status())
                    .as(form)
                    .isEqualTo(200);
        }
    }

    @Nested
    class WhatDriversAlsoTouch {

        @Test
        void leadersAreElectedByLeases() throws Exception {
            String path = LEASES + "/gpu.example.com";
            assertThat(go.get(path).text("reason")).isEqualTo("NotFound");
            String lease =
                    json("{'kind':'Lease','apiVersion':'coordination.k8s.io/v1','metadata':{'name':'gpu.example.com',"
                            + "'namespace':'default','creationTimestamp':null,'resourceVersion':'%s'},'spec':"
                            + "{'holderIdentity':'%s','leaseDurationSeconds':15,'leaseTransitions':0}}\n");

            Answer made = go.send("POST", LEASES, lease.formatted("", "one"));
            String revision = made.text("metadata", "resourceVersion");
            Answer renewed = go.send("PUT", path, lease.formatted(revision, "again"));
            Answer late = go.send("PUT", path, lease.formatted(revision, "two"));

            assertThat(made.status()).isEqualTo(201);
            assertThat(renewed.status()).isEqualTo(200);
            assertThat(late.refusal()).isEqualTo("409 Conflict");
        }

        @Test
        void eventsAreNotedInBothGroupsAndCounted() throws Exception {
            String core = "/api/v1/namespaces/default/events";
            String group = "/apis/events.k8s.io/v1/namespaces/default/events";
            String old = "{'kind':'Event','apiVersion':'v1','metadata':{'name':'c1.17a','namespace':'default'},"
                    + "'involvedObject':{'kind':'ResourceClaim','name':'c1'},'reason':'Prepared','message':'m',"
                    + "'source':{'component':'gpu-plugin'},'count':1,'type':'Normal','eventTime':null}";
            String recent =
                    "{'kind':'Event','apiVersion':'events.k8s.io/v1','metadata':{'name':'c1.17b','namespace':'default'},"
                            + "'eventTime':'2026-01-01T00:00:00.000000Z','reportingController':'gpu-plugin','reportingInstance':'i','action':'a',"
                            + "'reason':'Prepared','regarding':{'kind':'ResourceClaim','name':'c1'},'type':'Normal'}";

            assertThat(go.send("POST", core, json(old)).status()).isEqualTo(201);
            assertThat(go.send("POST", group, json(recent)).status()).isEqualTo(201);
            String strategic = "application/strategic-merge-patch+json";
            String more = "{'series':{'count':2,'lastObservedTime':'2026-01-01T00:00:09.000000Z'}}";
            Answer counted = go.send("PATCH", core + "/c1.17a", strategic, json("{'count':2}"));
            Answer series = go.send("PATCH", group + "/c1.17b", strategic, json(more));

            assertThat(counted.body().path("count").asInt()).isEqualTo(2);
            assertThat(series.body().at("/series/count").asInt()).isEqualTo(2);
        }

        @ParameterizedTest
        @CsvSource({
            "GET, /api/v1/namespaces/default/configmaps/settings",
            "GET, /api/v1/namespaces/default/pods/p/log",
            "GET, /openapi/v2"
        })
        void whatIsNotServedIsNotFound(String method, String path) throws Exception {
            Answer answer = method.equals("GET") ? go.get(path) : go.send(method, path, "{}");

            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.body().toString()).contains("kind\":\"Status", NOT_FOUND);
        }
    }

    @Nested
    class Errors {

        @ParameterizedTest
        @CsvSource({
            "POST, /apis/authentication.k8s.io/v1/tokenreviews",
            "GET, /apis/apps/v1/namespaces/default/daemonsets",
            "PUT, /nothing"
        })
        void areTextOutsideOfTheApi(String method, String path) throws Exception {
            Answer answer = method.equals("GET") ? go.get(path) : go.send(method, path, "{}");

            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.text("text")).isEqualTo("404 page not found\n");
        }

        @ParameterizedTest
        @CsvSource({
            "POST, /apis, 405, MethodNotAllowed",
            "DELETE, /version, 405, MethodNotAllowed",
            "POST, /apis/resource.k8s.io/v1/resourceslices/s1, 405, MethodNotAllowed",
            "PATCH, /apis/resource.k8s.io/v1/resourceslices, 405, MethodNotAllowed",
            "OPTIONS, /apis/resource.k8s.io/v1/resourceslices, 405, MethodNotAllowed",
            "PUT, /apis/resource.k8s.io/v1/nothing, 404, NotFound",
            "PATCH, /apis/resource.k8s.io/v1/resourceslices/s1, 415, UnsupportedMediaType",
            "POST, /apis/resource.k8s.io/v1/resourceslices, 422, Invalid",
            "DELETE, /apis/resource.k8s.io/v1/resourceslices/s1, 404, NotFound"
        })
        void areStatusObjects(String method, String path, int status, String reason) throws Exception {
            Answer refused = go.send(method, path, "{}");

            assertThat(refused.status()).isEqualTo(status);
            assertThat(refused.headers()).containsEntry("content-type", "application/json");
            assertThat(refused.text("kind")).isEqualTo("Status");
            assertThat(refused.text("apiVersion")).isEqualTo("v1");
            assertThat(refused.text("status")).isEqualTo("Failure");
            assertThat(refused.text("reason")).isEqualTo(reason);
            assertThat(refused.body().path("code").asInt()).isEqualTo(status);
        }

        @Test
        void areOneLineForWhatIsNoJson() throws Exception {
            Answer refused = go.send("POST", SLICES, "kind: x");

            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.text("message"))
                    .startsWith("the object provided is unrecognized (must be of type ")
                    .doesNotContain("\n", "Source");
        }

        @Test
        void ofABodyThatIsTooLargeComeAsWell() throws Exception {
            String body = slice("s1", 1).replace("node-1", "x".repeat(3 * 1024 * 1024));

            Answer refused = go.send("POST", SLICES, body);

            assertThat(refused.refusal()).isEqualTo("413 RequestEntityTooLarge");
        }
    }
}
