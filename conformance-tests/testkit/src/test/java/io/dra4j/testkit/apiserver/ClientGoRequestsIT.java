// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.GoConnection.PROTOBUF;
import static io.dra4j.testkit.apiserver.HttpProbe.CLAIMS;
import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.claim;
import static io.dra4j.testkit.apiserver.HttpProbe.shown;
import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.Trees;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.proxy.ApiProxy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The requests of a driver with client-go, written by hand, through the proxy as a driver sends
 * them. One connection carries all requests of a test but watches.
 */
@Timeout(60)
class ClientGoRequestsIT {

    /** The informer of the helper's slice controller. */
    private static final String OWN_SLICES =
            SLICES + "?fieldSelector=spec.driver%3Dgpu.example.com%2Cspec.nodeName%3Dnode-1";

    private static final String WATCH = "%s&resourceVersion=%s&timeout=7m5s&timeoutSeconds=425&watch=true";

    private static final String WITH_BOOKMARKS = "?allowWatchBookmarks=true";

    @AutoClose
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder().node("node-1").historySize(20).start();

    @AutoClose
    private final ApiProxy proxy = ApiProxy.before(server.url());

    @AutoClose
    private final GoConnection go = new GoConnection(proxy.url());

    private void forgetRevisions(String name) {
        for (int i = 2; i < 30; i++) {
            server.store().put(Trees.tree(slice(name, i)));
        }
    }

    private void publish(String... names) {
        for (String name : names) {
            server.store().put(Trees.tree(slice(name, 1)));
        }
    }

    @Nested
    class AnInformer {

        @Test
        void listsAndThenWatchesFromThere() throws Exception {
            publish("s1");

            Answer list = go.get(OWN_SLICES + "&limit=500&resourceVersion=0");
            String revision = list.text("metadata", "resourceVersion");
            try (GoConnection watch = new GoConnection(proxy.url())) {
                Answer begun = watch.watch(WATCH.formatted(OWN_SLICES.replace("?", WITH_BOOKMARKS + "&"), revision));
                publish("s2");

                assertThat(proxy.requests().get(0).client()).endsWith(" [application/json, */*]");
                assertThat(list.body().path("items")).hasSize(1);
                assertThat(list.headers()).containsEntry("content-type", "application/json");
                assertThat(begun.status()).isEqualTo(200);
                assertThat(begun.headers())
                        .containsEntry("content-type", "application/json")
                        .containsEntry("transfer-encoding", "chunked");
                assertThat(shown(watch.event())).isEqualTo("ADDED s2");
            }
        }

        /** client-go 0.35 and later does so first, and 0.34 with WatchListClient. */
        @Test
        void streamsTheListInAWatch() throws Exception {
            publish("s1");

            try (GoConnection watch = new GoConnection(proxy.url())) {
                watch.watch(
                        "%s&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeout=9m42s&timeoutSeconds=582&watch=true"
                                .formatted(OWN_SLICES.replace("?", "?allowWatchBookmarks=true&")));

                assertThat(shown(watch.event())).isEqualTo("ADDED s1");
                JsonNode end = watch.event();
                assertThat(end.path("type").asText()).isEqualTo("BOOKMARK");
                assertThat(Json.text(end, "object", "kind")).isEqualTo("ResourceSlice");
                assertThat(Json.text(end, "object", "apiVersion")).isEqualTo("resource.k8s.io/v1");
                assertThat(Json.at(end, "object", "metadata", "annotations"))
                        .isEqualTo(Json.object().put("k8s.io/initial-events-end", "true"));
                assertThat(Json.text(end, "object", "metadata", "resourceVersion"))
                        .matches("[0-9]+");
                publish("s2");
                assertThat(shown(watch.event())).isEqualTo("ADDED s2");
            }
        }

        @Test
        void getsAnErrorEventWhenItsRevisionIsTooOld() throws Exception {
            publish("s1");
            String old = go.get(SLICES).text("metadata", "resourceVersion");
            forgetRevisions("s1");

            try (GoConnection watch = new GoConnection(proxy.url())) {
                watch.watch(WATCH.formatted(SLICES + WITH_BOOKMARKS, old));
                JsonNode error = watch.event();

                assertThat(error.path("type").asText()).isEqualTo("ERROR");
                assertThat(Json.text(error, "object", "kind")).isEqualTo("Status");
                assertThat(Json.at(error, "object", "code").asInt()).isEqualTo(410);
                assertThat(Json.text(error, "object", "reason")).isEqualTo("Expired");
                assertThat(watch.event()).isEmpty();
            }
        }

        @Test
        void getsARetryAfterForARevisionOfTheFuture() throws Exception {
            Answer early = go.get(SLICES + "?limit=500&resourceVersion=999999");

            assertThat(early.status()).isEqualTo(504);
            assertThat(early.headers()).containsEntry("retry-after", "1");
            assertThat(early.body().at("/details/causes/0/reason").asText()).isEqualTo("ResourceVersionTooLarge");
        }
    }

    @Nested
    class AListInParts {

        private List<String> names(Answer list) {
            List<String> names = new ArrayList<>();
            list.body().path("items").forEach(one -> names.add(Json.text(one, "metadata", "name")));
            return names;
        }

        private Answer rest(Answer part) throws IOException {
            return go.get(SLICES + "?continue=" + part.text("metadata", "continue") + "&limit=2");
        }

        @Test
        void isThatOfOneRevisionWhateverHappensMeanwhile() throws Exception {
            publish("s1", "s2", "s3", "s4", "s5");

            Answer first = go.get(SLICES + "?limit=2");
            publish("s25");
            go.send("DELETE", SLICES + "/s3", "");
            server.store().put(Trees.tree(slice("s4", 7)));
            Answer second = rest(first);
            Answer third = rest(second);

            assertThat(names(first)).containsExactly("s1", "s2");
            assertThat(first.body().at("/metadata/remainingItemCount").asInt()).isEqualTo(3);
            assertThat(names(second)).containsExactly("s3", "s4");
            assertThat(second.body().at("/items/1/spec/pool/generation").asInt())
                    .isEqualTo(1);
            assertThat(names(third)).containsExactly("s5");
            assertThat(third.body().path("metadata").has("continue")).isFalse();
            assertThat(List.of(second, third))
                    .extracting(part -> part.text("metadata", "resourceVersion"))
                    .containsOnly(first.text("metadata", "resourceVersion"));
            assertThat(names(go.get(SLICES))).containsExactly("s1", "s2", "s25", "s4", "s5");
        }

        @Test
        void canBeCompletedWithNewerObjectsWhenItsRevisionIsForgotten() throws Exception {
            publish("s1", "s2", "s3", "s4");
            Answer first = go.get(SLICES + "?limit=2");
            forgetRevisions("s4");

            Answer expired = rest(first);
            Answer newer = rest(expired);

            assertThat(expired.refusal()).isEqualTo("410 Expired");
            assertThat(names(newer)).containsExactly("s3", "s4");
            assertThat(newer.body().at("/items/1/spec/pool/generation").asInt()).isEqualTo(29);
        }
    }

    @Nested
    class Protobuf {

        @Test
        void isRefusedAsABodyThatHasOnlyItsPrefix() throws Exception {
            for (String method : List.of("POST", "DELETE")) {
                String path = method.equals("POST") ? SLICES : SLICES + "/s1";
                Answer refused = go.send(method, path, PROTOBUF, "k8s\0");

                assertThat(refused.status()).as(method).isEqualTo(400);
                assertThat(refused.text("message")).endsWith("empty body (6b387300)");
            }
        }
    }

    @Nested
    class Connections {

        @Test
        void areKeptAliveForAllRequests() throws Exception {
            for (int i = 0; i < 200; i++) {
                assertThat(go.get(SLICES + "?limit=500&resourceVersion=0").status())
                        .isEqualTo(200);
                assertThat(go.get(SLICES + "/none").status()).isEqualTo(404);
            }
        }

        @Test
        void mayWaitForTheServerToWantABody() throws Exception {
            assertThat(go.sendExpecting(CLAIMS, claim("c1")).status()).isEqualTo(201);
            assertThat(go.get(CLAIMS + "/c1").status()).isEqualTo(200);
        }

        @Test
        void getTheRefusalOfABodyThatIsTooLarge() throws Exception {
            String body = slice("s1", 1).replace("node-1", "x".repeat(3 * 1024 * 1024));

            assertThat(go.send("POST", SLICES, body).refusal()).isEqualTo("413 RequestEntityTooLarge");
        }

        @Test
        void carryManyWatchesAtOnce() throws Exception {
            List<GoConnection> watches = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                GoConnection watch = new GoConnection(proxy.url());
                watches.add(watch);
                watch.watch(SLICES + "?allowWatchBookmarks=true&timeoutSeconds=425&watch=true");
            }

            publish("s1");

            for (GoConnection watch : watches) {
                assertThat(shown(watch.event())).isEqualTo("ADDED s1");
                watch.close();
            }
        }
    }
}
