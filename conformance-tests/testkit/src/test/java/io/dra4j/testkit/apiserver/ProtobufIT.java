// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.BOTH;
import static io.dra4j.testkit.apiserver.HttpProbe.JSON;
import static io.dra4j.testkit.apiserver.HttpProbe.PROTOBUF;
import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Trees;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.HttpProbe.Stream;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.protobuf.MutatedBytes;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Protobuf where clients ask for it: bodies, answers, watches, and fallbacks. */
@Timeout(60)
class ProtobufIT {
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
    class Bodies {
        /** The codec gets 100,000 in MutatedBytesTest. */
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

        @ParameterizedTest
        @ValueSource(strings = {"POST", "DELETE"})
        void thatHaveOnlyThePrefixAreRefused(String method) {
            String path = method.equals("POST") ? SLICES : SLICES + "/s1";
            Answer refused = http.send(method, path, PROTOBUF, "k8s\0");

            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.text("message")).endsWith("empty body (6b387300)");
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
}
