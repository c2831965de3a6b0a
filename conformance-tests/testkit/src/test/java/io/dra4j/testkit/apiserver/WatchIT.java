// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.Trees;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.HttpProbe.Stream;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Watches over real HTTP, in the forms that fabric8 and client-go use. */
@Isolated
@Timeout(60)
class WatchIT {

    @AutoClose
    private final EmbeddedApiServer server = EmbeddedApiServer.builder()
            .historySize(20)
            .bookmarkInterval(Duration.ofMillis(50))
            .start();

    private final HttpProbe http = new HttpProbe(server);

    @Nested
    class Events {
        @ParameterizedTest
        @ValueSource(booleans = {true, false})
        void reachFabric8WithAndWithoutItsFirstTryByWebSocket(boolean onlyHttpWatches) throws Exception {
            BlockingQueue<String> seen = new LinkedBlockingQueue<>();
            Watcher<ResourceSlice> watcher = new Watcher<>() {
                @Override
                public void eventReceived(Action action, ResourceSlice slice) {
                    seen.add(action + " " + slice.getMetadata().getName());
                }

                @Override
                public void onClose(WatcherException cause) {
                    seen.add("closed by " + cause);
                }
            };
            server.store().put(Trees.tree(slice("s1", 1)));
            Config config = new ConfigBuilder(Config.empty())
                    .withMasterUrl(server.url().toString())
                    .withOnlyHttpWatches(onlyHttpWatches)
                    .build();
            try (KubernetesClient client =
                            new KubernetesClientBuilder().withConfig(config).build();
                    Watch watch = client.resources(ResourceSlice.class)
                            .withField("spec.nodeName", "node-1")
                            .watch(watcher)) {
                assertThat(watch).isNotNull();
                assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("ADDED s1");

                server.store().put(Trees.tree(slice("s1", 2)));
                server.store().delete("resourceslices", "", "s1");

                assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("MODIFIED s1");
                assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("DELETED s1");
            }
        }
    }

    @Nested
    class Ends {
        @Test
        void whenItsClientWentAwayAndSomethingHappens() throws Exception {
            Stream watch = http.watch(SLICES + "?watch=1");
            assertThat(server.openWatches()).isEqualTo(1);
            watch.close();

            for (int i = 1; server.openWatches() > 0; i++) {
                server.store().put(Trees.tree(slice("s1", i)));
            }

            assertThat(server.openWatches()).isZero();
        }

        @Test
        void whenItsClientDoesNotRead() throws Exception {
            try (Socket socket = new Socket("127.0.0.1", server.url().getPort())) {
                String request = "GET /api/v1/nodes?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
                socket.getOutputStream().write(request.getBytes(UTF_8));
                assertThat(socket.getInputStream().read()).isEqualTo('H');
                String large = "x".repeat(20_000);
                String node = "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n','annotations':{'a':'%s%s'}}}";

                for (int i = 0; i < 3_000 && server.openWatches() > 0; i++) {
                    server.store().put(Trees.tree(node.formatted(i, large)));
                }

                assertThat(server.openWatches()).isZero();
            }
        }

        @Test
        void withTheServerAlsoWhenThereAreMany() throws Exception {
            List<Stream> streams = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                streams.add(http.watch(SLICES + "?watch=1"));
            }
            http.post(SLICES, slice("s1", 1));
            for (Stream stream : streams) {
                assertThat(stream.shown()).isEqualTo("ADDED s1");
            }
            assertThat(serverThreads()).isLessThanOrEqualTo(33);

            server.close();

            assertThat(streams.get(0).next()).isEmpty();
            assertThat(serverThreads()).isZero();
        }

        private long serverThreads() {
            return Thread.getAllStackTraces().keySet().stream()
                    .filter(Thread::isAlive)
                    .filter(thread -> thread.getName().startsWith("dra4j-apiserver"))
                    .count();
        }
    }

    @Nested
    class Bookmarks {
        @Test
        void comeToWhoAsks() throws Exception {
            http.post(SLICES, slice("s1", 1));
            Answer list = http.get(SLICES);

            String bookmarks = SLICES + "?watch=1&allowWatchBookmarks=true&resourceVersion=";
            try (Stream watch = http.watch(bookmarks + list.resourceVersion())) {
                JsonNode bookmark = watch.next();

                assertThat(bookmark.path("type").asText()).isEqualTo("BOOKMARK");
                assertThat(JsonTrees.text(bookmark, "object", "kind")).isEqualTo("ResourceSlice");
                assertThat(JsonTrees.text(bookmark, "object", "metadata", "resourceVersion"))
                        .isEqualTo(list.resourceVersion());
            }
        }

        @Test
        void areNotSentToWhoWantsOnlyWhatIsNew() throws Exception {
            http.post(SLICES, slice("s1", 1));

            String onlyNew = "?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
            try (Stream watch = http.watch(SLICES + onlyNew)) {
                http.post(SLICES, slice("s2", 1));

                assertThat(watch.shown()).isEqualTo("ADDED s2");
            }
        }
    }
}
