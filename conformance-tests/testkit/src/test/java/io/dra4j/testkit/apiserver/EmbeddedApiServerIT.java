// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.rules.Trees.tree;
import static io.dra4j.testkit.apiserver.HttpProbe.BOTH;
import static io.dra4j.testkit.apiserver.HttpProbe.CLAIMS;
import static io.dra4j.testkit.apiserver.HttpProbe.JSON;
import static io.dra4j.testkit.apiserver.HttpProbe.PROTOBUF;
import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.claim;
import static io.dra4j.testkit.apiserver.HttpProbe.json;
import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Trees;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.HttpProbe.Stream;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.Traffic;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.protobuf.MutatedBytes;
import io.dra4j.testkit.protobuf.Recording;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The server over real HTTP: its limits, the numbers of requests, and protobuf where clients ask for it. */
@Timeout(60)
class EmbeddedApiServerIT {

    private static final String META = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    private static final String WATCH = SLICES + "?watch=true&allowWatchBookmarks=true";
    private static final int BROKEN = Boolean.getBoolean("dra4j.full") ? 10_000 : 1_000;
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
    class BodiesInProtobuf {
        /** The codec gets 100,000 in KubernetesProtobufTest. */
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
        void thatAreNoObjectsAreRefusedInTheWordsOfARealServer() {
            List<Recording> bad = Recording.all().stream()
                    .filter(line -> line.what().startsWith("bad: "))
                    .toList();

            assertThat(bad).hasSize(5).allSatisfy(line -> {
                Answer answer = http.send("POST", line.path(), PROTOBUF, JSON, line.body());
                assertThat(answer.status()).isEqualTo(line.code());
                assertThat(answer.body()).isEqualTo(line.json());
            });
        }

        @Test
        void ofDeletionsThatHaveOnlyThePrefixAreRefused() {
            Answer refused = http.send("DELETE", SLICES + "/s1", PROTOBUF, "k8s\0");

            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.text("message")).endsWith("empty body (6b387300)");
        }
    }

    @Nested
    class WatchesInProtobuf {
        @Test
        void bringFramesOfEvents() throws Exception {
            publish("s1", 1);
            try (Stream watch = http.watch(WATCH + "&resourceVersion=0", PROTOBUF + ", */*")) {
                assertThat(watch.contentType()).isEqualTo(PROTOBUF + ";stream=watch");
                assertThat(watch.shown()).isEqualTo("ADDED s1");
                publish("s1", 2);
                ObjectNode modified = watch.next();
                assertThat(JsonTrees.text(modified, "type")).isEqualTo("MODIFIED");
                assertThat(modified.path("object"))
                        .isEqualTo(http.get(SLICES + "/s1", BOTH).body());
                server.store().delete("resourceslices", "", "s1");
                assertThat(watch.shown()).isEqualTo("DELETED s1");
            }
        }

        @ParameterizedTest
        @ValueSource(strings = {BOTH, JSON})
        void canBeginWithTheList(String accept) throws Exception {
            publish("s1", 1);
            String list = WATCH + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
            try (Stream watch = http.watch(list, accept)) {
                assertThat(watch.shown()).isEqualTo("ADDED s1");
                ObjectNode end = watch.next();
                assertThat(JsonTrees.text(end, "type")).isEqualTo("BOOKMARK");
                assertThat(JsonTrees.text(end, "object", "kind")).isEqualTo("ResourceSlice");
                assertThat(end.at("/object/metadata/annotations/k8s.io~1initial-events-end")
                                .asText())
                        .isEqualTo("true");
                publish("s2", 1);
                assertThat(watch.shown()).isEqualTo("ADDED s2");
            }
        }

        @ParameterizedTest
        @ValueSource(strings = {BOTH, JSON, PROTOBUF + META})
        void endWithAStatusWhenTheirRevisionIsTooOld(String accept) throws Exception {
            for (int i = 1; i < 30; i++) {
                publish("s1", i);
            }
            try (Stream watch = http.watch(WATCH + "&resourceVersion=1", accept)) {
                ObjectNode error = watch.next();
                assertThat(JsonTrees.text(error, "type")).isEqualTo("ERROR");
                assertThat(JsonTrees.text(error, "object", "kind")).isEqualTo("Status");
                assertThat(JsonTrees.text(error, "object", "reason")).isEqualTo("Expired");
                assertThat(watch.next()).isEmpty();
            }
        }

        @Test
        void ofMetadataBringNothingElse() throws Exception {
            publish("s1", 1);
            String accept = PROTOBUF + META.replace("List", "") + "," + BOTH;
            try (Stream watch = http.watch(WATCH + "&resourceVersion=0", accept)) {
                ObjectNode added = watch.next();
                assertThat(JsonTrees.text(added, "object", "kind")).isEqualTo("PartialObjectMetadata");
                assertThat(added.path("object").has("spec")).isFalse();
            }
        }
    }

    /** The allocation, which no write may change, is compared as it is decoded. */
    @ParameterizedTest
    @CsvSource({"PUT, json", "PATCH, merge-patch+json", "PATCH, apply-patch+yaml"})
    void statusIsWrittenWhereFieldsOfALaterReleaseAreStored(String method, String type) throws Exception {
        ObjectNode body = tree(claim("c1"));
        String device = "'driver':'gpu.example.com','pool':'node-1','device':'gpu-0'";
        body.withObject("/metadata").put("namespace", "default");
        body.set("status", tree("{'allocation':{'devices':{'results':[{'request':'gpu',%s}]}}}".formatted(device)));
        server.store().put(body.deepCopy());
        body.withObject("/status").putArray("devices").add(tree("{" + device + "}"));
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

    @Test
    void anUnmetWaitNamesWhatThereWasInstead() {
        Predicate<List<JsonNode>> some = pods -> !pods.isEmpty();

        assertThatThrownBy(() -> server.store().await("pods", some, Duration.ofMillis(1)))
                .isInstanceOf(AssertionError.class)
                .hasMessage("after PT0.001S the pods were []");
    }

    @Nested
    class Limits {

        private static String with(String name, String metadata) {
            ObjectNode object = (ObjectNode) JsonTrees.parse(slice(name, 1));
            JsonTrees.metadata(object).setAll((ObjectNode) JsonTrees.parse(json(metadata)));
            return object.toString();
        }

        /** A number in braces is for as many letters. */
        @ParameterizedTest
        @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                        s2 | {'annotations':{'a':'{262143}'}}  | 201 | ``
                        s3 | {'annotations':{'aa':'{262143}'}} | 422 | metadata.annotations: Too long: may not be more than 262144 bytes
                        s2 | {'labels':{'{200000}':'x'}}       | 422 | metadata.labels: Invalid value:
                        `` | {'generateName':'Bad_'}           | 422 | metadata.generateName: Invalid value: "Bad_"
                        `` | {'generateName':'Bad_'}           | 422 | metadata.name: Invalid value: "Bad_
                        `` | {'generateName':'s-'}             | 201 | ``
                        """)
        void ofMetadataAreThoseOfARealServer(String name, String metadata, int status, String words) {
            String filled = Pattern.compile("\\{(\\d+)}")
                    .matcher(metadata)
                    .replaceAll(found -> "x".repeat(Integer.parseInt(found.group(1))));

            Answer answer = http.post(SLICES, with(name, filled));

            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.message()).contains(words);
        }

        @Test
        void aGeneratedNameHasATruncatedBase() {
            String base = "0000-gpu.example.com-" + "n".repeat(60) + "-";

            Answer created = http.post(SLICES, with("", "{'generateName':'" + base + "'}"));

            assertThat(created.status()).isEqualTo(201);
            assertThat(created.text("metadata", "name")).hasSize(63).startsWith(base.substring(0, 58));
        }

        @Test
        void aBodyHasALimit() {
            Answer answer = http.post(SLICES, " ".repeat(3 * 1024 * 1024 + 1));

            assertThat(answer.refusal()).isEqualTo("413 RequestEntityTooLarge");
            assertThat(answer.message()).isEqualTo("Request entity too large: limit is 3145728");
        }

        @Test
        void whatIsDeeperOrLongerThanItReadsIsRefused() {
            String deep = "[".repeat(5_000) + "]".repeat(5_000);
            for (String odd : List.of(deep, "1".repeat(5_000))) {
                Answer answer = http.post(SLICES, slice("s2", 1).replaceFirst("\\{", "{\"odd\":" + odd + ","));

                assertThat(answer.refusal()).as(answer.message()).isEqualTo("400 BadRequest");
            }
        }

        @Test
        void manyWarningsAreCut() throws IOException, InterruptedException {
            ObjectNode object = (ObjectNode) JsonTrees.parse(slice("s2", 1));
            for (int i = 0; i < 90; i++) {
                JsonTrees.child(object, "spec").put("unknown-" + i + "-".repeat(50), 1);
            }

            HttpRequest request = HttpRequest.newBuilder(server.url().resolve(SLICES))
                    .POST(HttpRequest.BodyPublishers.ofString(object.toString()))
                    .build();
            HttpResponse<Void> response =
                    HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());

            assertThat(response.statusCode()).isEqualTo(201);
            assertThat(response.headers().allValues("Warning")).hasSizeBetween(40, 60);
        }
    }

    @Nested
    class RequestCounts {

        @Test
        void areByVerbAndResourceAndHaveTheirBytesInBothDirections() throws Exception {
            String slice = slice("s1", 1);
            http.get("/apis/resource.k8s.io/v1");
            http.post(SLICES, slice);
            http.get(SLICES);
            http.get(SLICES + "?watch=false");
            int object = http.get(SLICES + "/s1").body().toString().length();
            try (Stream watch = http.watch(SLICES + "?watch=1")) {
                assertThat(watch.shown()).isEqualTo("ADDED s1");
            }
            Map<String, Traffic> traffic = server.traffic();
            assertThat(traffic).containsOnlyKeys(server.requests().keySet());
            assertThat(traffic.get("create resourceslices").received())
                    .isBetween(slice.length() + 40.0, slice.length() + 600.0);
            assertThat(traffic.get("get resourceslices").sent()).isBetween(object + 40.0, object + 400.0);
            assertThat(traffic.get("watch resourceslices").sent()).isBetween(object + 40.0, object + 500.0);
            http.delete(SLICES + "/s1", "");
            http.delete(SLICES + "/s1", ""); // which is not there

            assertThat(server.requests())
                    .isEqualTo(Map.of(
                            "get (no resource)", 1L,
                            "create resourceslices", 1L,
                            "list resourceslices", 2L,
                            "get resourceslices", 1L,
                            "watch resourceslices", 1L,
                            "delete resourceslices", 2L));
        }

        @Test
        void doNotIncludeTheHostsOwn() {
            server.store().list("resourceslices");

            assertThat(server.requests()).isEmpty();
        }
    }
}
