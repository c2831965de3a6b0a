// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.BOTH;
import static io.dra4j.testkit.apiserver.HttpProbe.CLAIMS;
import static io.dra4j.testkit.apiserver.HttpProbe.PROTOBUF;
import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.claim;
import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Trees;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.HttpProbe.Stream;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.protobuf.MutatedBytes;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Protobuf where clients ask for it: bodies, answers, watches, and what takes its place. */
@Timeout(60)
class ProtobufIT {
    private static final String META = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    private static final String WATCH = SLICES + "?watch=true&allowWatchBookmarks=true";
    private static final int BROKEN = Boolean.getBoolean("dra4j.full") ? 10_000 : 1_000;
    private static final String NEW_IN_SLICES = """
            {'partitionTypeAttribute':'gpu.example.com/type','skipNodeOperations':['*'],
             'devices':[{'name':'gpu-0','attributes':{'type':{'string':'half'}},
              'capacity':{'cores':{'value':'8'}},
              'consumesCounters':[
               {'counterSet':'s','counters':{'c':{'value':'1'}},'compatibilityGroups':['mig']}],
              'nodeAllocatableResources':{
               'cpu':{'mapping':{'capacityKey':'cores','capacityMultiplier':'500m'}},
               'memory':{'mapping':{'deviceMultiplier':'2'},
                'overhead':{'perPod':'1Gi','perContainer':'64Mi'}}}}]}
            """;
    private static final String NEW_IN_CLAIMS = """
            {'devices':{'requests':[
              {'name':'r','exactly':{'deviceClassName':'c','allocationMode':'ExactCount','count':1,
               'derivedAttributes':[{'name':'a.com/n','expression':'1'}]}},
              {'name':'s','firstAvailable':[
               {'name':'t','deviceClassName':'c','allocationMode':'ExactCount','count':1,
                'derivedAttributes':[{'name':'a.com/n','expression':'2'}]}]}],
             'constraints':[{'matchAttribute':'a.com/n'}]}}
            """;
    private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();

    @AutoClose
    private final EmbeddedApiServer server = EmbeddedApiServer.builder()
            .version(KubernetesVersion.V1_36)
            .historySize(20)
            .start();

    private final HttpProbe http = new HttpProbe(server);

    private void publish(String name, int generation) {
        server.store().put(Trees.tree(slice(name, generation)));
    }

    @Nested
    class Answers {
        @ParameterizedTest
        @CsvSource(
                delimiter = '|',
                value = {
                    PROTOBUF + "|" + PROTOBUF,
                    PROTOBUF + ",application/json|" + PROTOBUF,
                    PROTOBUF + ", */*|" + PROTOBUF,
                    "application/json;q=0.5, " + PROTOBUF + "|" + PROTOBUF,
                    "application/json, " + PROTOBUF + "|application/json",
                    PROTOBUF + ";q=0.2, application/json|application/json",
                    "*/*|application/json",
                    "application/cbor, " + PROTOBUF + ", application/json|" + PROTOBUF,
                    PROTOBUF
                            + ";as=Table;g=meta.k8s.io;v=v1,application/json;as=Table;g=meta.k8s.io;v=v1|application/json",
                    PROTOBUF + ";as=Table;g=meta.k8s.io;v=v1," + PROTOBUF + "|" + PROTOBUF
                })
        void haveTheFirstFormThatThereIs(String accept, String contentType) {
            publish("s1", 1);

            for (String path : new String[] {SLICES, SLICES + "/s1"}) {
                Answer answer = http.get(path, accept);

                assertThat(answer.status()).isEqualTo(200);
                assertThat(answer.contentType()).isEqualTo(contentType);
            }
        }

        @ParameterizedTest
        @CsvSource({"application/cbor", PROTOBUF + ";as=Table;g=meta.k8s.io;v=v1"})
        void areRefusedInJsonWhereThereIsNoSuchForm(String accept) {
            Answer answer = http.get(SLICES, accept);

            assertThat(answer.status()).isEqualTo(406);
            assertThat(answer.contentType()).isEqualTo("application/json");
            assertThat(answer.text("message")).contains("application/json, application/yaml, " + PROTOBUF);
        }

        @Test
        void toATableThatIsNotFoundAreJson() {
            String table = ";as=Table;g=meta.k8s.io;v=v1,";

            Answer answer = http.get(SLICES + "/s1", PROTOBUF + table + "application/json" + table);

            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.contentType()).isEqualTo("application/json");
        }

        @Test
        void canBeMetadataAlone() {
            publish("s1", 1);

            Answer list = http.get(SLICES, PROTOBUF + META + "," + BOTH);
            Answer one = http.get(SLICES + "/s1", PROTOBUF + META.replace("List", ""));

            assertThat(list.text("kind")).isEqualTo("PartialObjectMetadataList");
            assertThat(list.body().at("/items/0/metadata/name").asText()).isEqualTo("s1");
            assertThat(one.text("kind")).isEqualTo("PartialObjectMetadata");
            assertThat(one.body().has("spec")).isFalse();
        }

        @Test
        void ofDeletionsAreAStatus() {
            server.store().put(Trees.tree("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'}}"));

            Answer deleted = http.send("DELETE", "/api/v1/nodes/n1", new byte[0]);

            assertThat(deleted.contentType()).isEqualTo(PROTOBUF);
            assertThat(deleted.text("kind")).isEqualTo("Status");
            assertThat(deleted.text("status")).isEqualTo("Success");
        }

        /** A field that the schema has no number for is never dropped. */
        @Test
        void withAFieldOfNoSchemaComeInJsonOrNotAtAll() {
            server.store()
                    .put(Trees.tree(
                            "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1'},'spec':{'newField':1}}"));

            Answer inJson = http.get("/api/v1/nodes/n1", BOTH);
            Answer refused = http.get("/api/v1/nodes", PROTOBUF);

            assertThat(inJson.contentType()).isEqualTo("application/json");
            assertThat(inJson.body().at("/spec/newField").asInt()).isEqualTo(1);
            assertThat(refused.status()).isEqualTo(406);
            assertThat(refused.text("message")).contains("spec.newField", "application/json");
        }
    }

    @Nested
    class Bodies {
        @Test
        void ofCborAreRefused() {
            Answer answer = http.send("POST", SLICES, "application/cbor", BOTH, new byte[] {1});

            assertThat(answer.status()).isEqualTo(415);
            assertThat(answer.text("message")).endsWith(PROTOBUF);
        }

        @Test
        void withFieldsOfAnotherReleaseAreTreatedAsInJson() {
            ObjectNode slice = Trees.tree(slice("s1", 1));
            slice.withObject("/spec").putArray("skipNodeOperations").add("*");

            Answer strict = http.send("POST", SLICES + "?fieldValidation=Strict", slice);
            Answer lenient = http.send("POST", SLICES, slice);

            assertThat(strict.status()).isEqualTo(400);
            assertThat(strict.text("message"))
                    .contains("strict decoding error: unknown field \"spec.skipNodeOperations\"");
            assertThat(lenient.status()).isEqualTo(201);
            assertThat(lenient.body().path("spec").has("skipNodeOperations")).isFalse();
        }

        @Test
        void carryTheNewFieldsOf137() {
            ObjectNode slice = Trees.tree(slice("s1", 1));
            slice.withObject("/spec").setAll(Trees.tree(NEW_IN_SLICES));
            ObjectNode claim = Trees.tree(claim("c1"));
            claim.withObject("/spec").setAll(Trees.tree(NEW_IN_CLAIMS));
            EmbeddedApiServer.Builder newer = EmbeddedApiServer.builder().version(KubernetesVersion.V1_37);
            for (FeatureGate gate : FeatureGate.values()) {
                newer.featureGate(gate, true);
            }
            try (EmbeddedApiServer server = newer.start()) {
                HttpProbe http = new HttpProbe(server);

                assertThat(http.send("POST", SLICES, slice).status()).isEqualTo(201);
                assertThat(http.send("POST", CLAIMS, claim).status()).isEqualTo(201);
                for (String accept : List.of(PROTOBUF, HttpProbe.JSON)) {
                    assertThat(http.get(SLICES + "/s1", accept).body().path("spec"))
                            .isEqualTo(slice.path("spec"));
                    assertThat(http.get(CLAIMS + "/c1", accept).body().path("spec"))
                            .isEqualTo(claim.path("spec"));
                }
            }
        }

        @Test
        void withAFieldThatIsNotKnownAreRefused() {
            byte[] spec = {0x12, 3, -104, 6, 1}; // Its field 99 is 1.
            byte[] body = CODEC.envelope("resource.k8s.io/v1", "ResourceSlice", spec);

            Answer answer = http.send("POST", SLICES, body);

            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.text("message"))
                    .isEqualTo("ResourceSlice in version \"v1\" cannot be handled as a ResourceSlice: spec has a field"
                            + " that is not known here, with number 99 in ResourceSliceSpec");
            assertThat(http.get(SLICES, BOTH).body().path("items")).isEmpty();
        }

        /** The codec alone gets 100,000, in MutatedBytesTest. */
        @Test
        @Timeout(900)
        void thatAreBrokenAreWrittenOrEndInAStatus() {
            MutatedBytes bodies = new MutatedBytes(36, slices());
            int written = 0;
            for (int i = 0; i < BROKEN; i++) {
                Answer answer = http.send("POST", SLICES + "?dryRun=All", bodies.next());

                assertThat(answer.status()).as("%s", answer.body()).isBetween(200, 500);
                assertThat(answer.text("kind")).isIn("Status", "ResourceSlice");
                written += answer.status() == 201 ? 1 : 0;
            }
            assertThat(written).isBetween(BROKEN / 10, BROKEN - BROKEN / 10);
        }

        /** Slices of a real API server, as they were before it got them. */
        private List<byte[]> slices() {
            return MutatedBytes.recorded()
                    .filter(line -> line.json().path("apiVersion").asText().endsWith("/v1"))
                    .filter(line -> line.json().path("kind").asText().equals("ResourceSlice"))
                    .map(line -> {
                        ObjectNode slice = line.json().deepCopy();
                        slice.putObject("metadata").put("generateName", "s-");
                        return CODEC.encode(slice);
                    })
                    .toList();
        }

        @Test
        void areValidatedAndDefaulted() {
            Answer invalid = http.send("POST", SLICES, Trees.tree(slice("s1", -1)));
            Answer claim = http.send("POST", CLAIMS, Trees.tree(claim("c1")));

            assertThat(invalid.status()).isEqualTo(422);
            assertThat(invalid.body().at("/details/causes/0/field").asText()).isEqualTo("spec.pool.generation");
            assertThat(claim.body().at("/spec/devices/requests/0/exactly/count").asInt())
                    .isEqualTo(1);
        }

        @Test
        void thatAreTooLargeAreRefused() {
            Answer answer = http.send("POST", SLICES, new byte[3 * 1024 * 1024 + 1]);

            assertThat(answer.status()).isEqualTo(413);
        }

        @Test
        void ofAnotherKindAreRefused() {
            assertThat(http.send("POST", SLICES, Trees.tree(claim("c1"))).status())
                    .isEqualTo(400);
        }

        @Test
        void ofDeletionsHoldPreconditions() {
            publish("s1", 1);
            ObjectNode options = Trees.tree("{'apiVersion':'resource.k8s.io/v1','kind':'DeleteOptions'}");
            options.putObject("preconditions").put("uid", "another");

            Answer kept = http.send("DELETE", SLICES + "/s1", options);
            Answer gone = http.send("DELETE", SLICES, options.without("preconditions"));

            assertThat(kept.refusal()).isEqualTo("409 Conflict");
            assertThat(gone.status()).isEqualTo(200);
            assertThat(gone.text("kind")).isEqualTo("ResourceSliceList");
        }

        @Test
        void thatAreJsonCanBeAnsweredInProtobuf() {
            byte[] json = slice("s1", 1).getBytes(StandardCharsets.UTF_8);

            Answer created = http.send("POST", SLICES, "application/json", PROTOBUF, json);

            assertThat(created.status()).isEqualTo(201);
            assertThat(created.text("metadata", "name")).isEqualTo("s1");
        }
    }

    @Nested
    class Watches {
        @Test
        void bringFramesOfEvents() throws Exception {
            publish("s1", 1);
            try (Stream watch = http.watch(WATCH + "&resourceVersion=0", PROTOBUF + ", */*")) {
                assertThat(watch.contentType()).isEqualTo(PROTOBUF + ";stream=watch");
                assertThat(watch.shown()).isEqualTo("ADDED s1");
                publish("s1", 2);
                ObjectNode modified = watch.next();
                assertThat(Json.text(modified, "type")).isEqualTo("MODIFIED");
                assertThat(modified.path("object"))
                        .isEqualTo(http.get(SLICES + "/s1", BOTH).body());
                server.store().delete("resourceslices", "", "s1");
                assertThat(watch.shown()).isEqualTo("DELETED s1");
            }
        }

        @Test
        void canBeginWithTheList() throws Exception {
            publish("s1", 1);
            String list = WATCH + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
            try (Stream watch = http.watch(list, BOTH)) {
                assertThat(watch.shown()).isEqualTo("ADDED s1");
                ObjectNode end = watch.next();
                assertThat(Json.text(end, "type")).isEqualTo("BOOKMARK");
                assertThat(Json.text(end, "object", "kind")).isEqualTo("ResourceSlice");
                assertThat(end.at("/object/metadata/annotations/k8s.io~1initial-events-end")
                                .asText())
                        .isEqualTo("true");
            }
        }

        @ParameterizedTest
        @ValueSource(strings = {BOTH, PROTOBUF + META})
        void endWithAStatusWhenTheirRevisionIsTooOld(String accept) throws Exception {
            for (int i = 1; i < 30; i++) {
                publish("s1", i);
            }
            try (Stream watch = http.watch(WATCH + "&resourceVersion=1", accept)) {
                ObjectNode error = watch.next();
                assertThat(Json.text(error, "type")).isEqualTo("ERROR");
                assertThat(Json.text(error, "object", "kind")).isEqualTo("Status");
                assertThat(Json.text(error, "object", "reason")).isEqualTo("Expired");
                assertThat(watch.next()).isEmpty();
            }
        }

        @Test
        void ofMetadataBringNothingElse() throws Exception {
            publish("s1", 1);
            String accept = PROTOBUF + META.replace("List", "") + "," + BOTH;
            try (Stream watch = http.watch(WATCH + "&resourceVersion=0", accept)) {
                ObjectNode added = watch.next();
                assertThat(Json.text(added, "object", "kind")).isEqualTo("PartialObjectMetadata");
                assertThat(added.path("object").has("spec")).isFalse();
            }
        }
    }
}
