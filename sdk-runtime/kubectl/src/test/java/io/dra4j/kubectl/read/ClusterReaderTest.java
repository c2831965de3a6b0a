// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.dra4j.testkit.http.Connections;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterReaderTest {

    private static final Path TRAINING = Path.of("src/main/resources/io/dra4j/kubectl/training.json");

    private final Map<String, String> requested = Collections.synchronizedMap(new LinkedHashMap<>());
    private final Set<String> compressed = ConcurrentHashMap.newKeySet();
    private final CompletableFuture<Integer> left = new CompletableFuture<>();
    private final CountDownLatch nodesRequested = new CountDownLatch(1);

    private static JsonNode tree(String yaml) throws IOException {
        return new YAMLMapper().readTree(yaml);
    }

    @Test
    void objectsAreReadWithTheirUsers() throws IOException {
        PodInfo pod = PodInfo.of(tree("""
                metadata: {namespace: team, name: train, uid: u}
                spec: {nodeName: a, resourceClaims: [{resourceClaimName: own}, {resourceClaimTemplateName: any}]}
                status:
                  phase: Failed
                  resourceClaimStatuses: [{resourceClaimName: made}, {resourceClaimName: own}]
                  extendedResourceClaimStatus: {resourceClaimName: extended}
                """));
        ClaimInfo claim = ClaimInfo.of(tree("""
                metadata: {namespace: team, name: made, creationTimestamp: "1", ownerReferences: [{kind: Pod, name: train}]}
                status: {reservedFor: [{resource: pods, name: train}, {resource: podgroups, name: all}]}
                """));

        assertThat(pod).isEqualTo(new PodInfo("team", "train", "u", "a", true, List.of("own", "made", "extended")));
        assertThat(claim.pods()).containsExactly("train");
        assertThat(claim.grouped()).isTrue();
        assertThat(claim.owner()).isEqualTo("pod train");
        assertThat(claim.since()).isEqualTo("1");
        assertThat(NodeInfo.of(tree("{metadata: {name: a}, status: {allocatable: {cpu: 8, example.com/fpga: 2k}}}"))
                        .allocatable())
                .isEqualTo(Map.of("example.com/fpga", 2000L));
    }

    /** It answers what no other list refers to only when the last list is requested. */
    @Test
    void listsAreReadNextToEachOtherInTheOrderOfTheirReferences(@TempDir Path folder) throws Exception {
        JsonNode answers = new JsonMapper().readTree(TRAINING.toFile());
        ExecutorService threads = Executors.newCachedThreadPool();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> answer(exchange, answers));
        server.start();
        URI address = URI.create("http://127.0.0.1:" + server.getAddress().getPort());

        try (ApiReader api = ApiReader.connect(Connections.writeKubeconfig(folder.resolve("k"), address), null)) {
            Snapshot snapshot = new ClusterReader(api).read();

            assertThat(snapshot.nodes()).extracting(NodeInfo::name).containsExactly("node-a", "node-b");
            assertThat(snapshot.cluster().slices()).hasSize(2);
            assertThat(snapshot.claims()).hasSize(8);
            assertThat(snapshot.cluster().taintRules()).hasSize(1);
        } finally {
            server.stop(0);
            threads.shutdownNow();
        }
        assertThat(requested.keySet()).containsSubsequence("resourceclaims", "resourceslices", "nodes");
        assertThat(compressed).containsAll(requested.keySet());
        assertThat(requested.get("resourceslices")).isEqualTo("application/json");
        assertThat(List.of(requested.get("resourceclaims"), requested.get("nodes")))
                .containsOnly("application/json;drop=metadata.managedFields,application/json");
    }

    @Test
    void aRefusalWithoutAnObjectIsReported(@TempDir Path folder) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(403, 4);
            exchange.getResponseBody().write("oops".getBytes(StandardCharsets.US_ASCII));
            exchange.close();
        });
        server.start();
        URI address = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        try (ApiReader api = ApiReader.connect(Connections.writeKubeconfig(folder.resolve("k"), address), null)) {
            assertThatThrownBy(() -> api.list("api/v1/nodes", node -> {}))
                    .isInstanceOf(ReadException.class)
                    .hasMessage("You may not read api/v1/nodes: not JSON");
        } finally {
            server.stop(0);
        }
    }

    /** A JVM that exits waits for threads in native code; those of other tests are in other groups. */
    @Test
    void theThreadsOfConnectionsAreEnded() throws Exception {
        ThreadGroup group = new ThreadGroup("program");
        FutureTask<Boolean> program = new FutureTask<>(() -> {
            ApiReader.prepare();
            boolean isConnected = group.activeCount() > 1;
            ApiReader.endConnections();
            return isConnected;
        });
        new Thread(group, () -> {
                    program.run();
                    left.complete(group.activeCount());
                })
                .start();

        assertThat(program.get()).isTrue();
        assertThat(left.get()).as("this thread alone").isOne();
    }

    private void answer(HttpExchange exchange, JsonNode answers) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String name = path.substring(path.lastIndexOf('/') + 1);
        requested.put(name, exchange.getRequestHeaders().getFirst("Accept"));
        if (name.equals("nodes")) {
            nodesRequested.countDown();
        }
        boolean isAnswered =
                !List.of("version", "deviceclasses", "devicetaintrules").contains(name) || isAwaited();
        byte[] body = answers.path(path).toString().getBytes(StandardCharsets.UTF_8);
        if (String.valueOf(exchange.getRequestHeaders().getFirst("Accept-Encoding"))
                .equals("gzip")) {
            exchange.getResponseHeaders().set("Content-Encoding", "gzip");
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
                out.write(body);
            }
            body = bytes.toByteArray();
            compressed.add(name);
        }
        exchange.sendResponseHeaders(isAnswered ? 200 : 500, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private boolean isAwaited() {
        try {
            return nodesRequested.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            return false; // the test has ended
        }
    }
}
