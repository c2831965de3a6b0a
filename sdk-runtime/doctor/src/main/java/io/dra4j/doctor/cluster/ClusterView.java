// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import static java.util.stream.Collectors.toList;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.cluster.ClusterApi.Answer;
import io.dra4j.doctor.cluster.SliceFacts.PoolId;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The objects that checks read; nodes and slices are read once for all checks. Not thread-safe. */
public final class ClusterView {

    public static final String SLICES = "apis/resource.k8s.io/v1/resourceslices";

    private static final int NOT_FOUND = 404;
    private static final int CHUNK = 500;

    /** A program in a driver's pod has 32 MB of memory, and a large slice takes 0.5 MB. */
    private static final int CHUNK_OF_DRIVER = 10;

    private final ClusterApi api;
    private final Scope scope;
    private final Supplier<List<NodeFacts>> nodes = new Once<>(this::readNodes);
    private final Supplier<List<SliceFacts>> slicesOfAllNodes = new Once<>(() -> readSlices(false));
    private final Supplier<Map<String, List<SliceFacts>>> slicesByNode = new Once<>(this::readSlicesByNode);

    public ClusterView(ClusterApi api, Scope scope) {
        this.api = api;
        this.scope = scope;
    }

    /**
     * Creates something that is not stored.
     *
     * @throws NotCheckedException if the answer is not the API server's
     */
    Answer create(String path, JsonNode body) {
        return understood("POST", path, api.create(path, body));
    }

    /** A proxy in between may answer with a page of its own; what is not served has no object either. */
    private static Answer understood(String method, String path, Answer answer) {
        if (answer.body().isEmpty() && answer.status() != NOT_FOUND) {
            throw new NotCheckedException("%s %s was answered %d without an object: is it a proxy's answer?"
                    .formatted(method, path.split("\\?", 2)[0], answer.status()));
        }
        return answer;
    }

    /** Returns the API server's time. */
    Instant now() {
        Instant date = understood("GET", "version", api.get("version")).date();
        if (date == null) {
            throw new NotCheckedException("the API server's answers have no date");
        }
        return date;
    }

    String node() {
        if (scope.node() == null) {
            throw new NotCheckedException("no node is given");
        }
        return scope.node();
    }

    boolean hasNode() {
        return scope.node() != null;
    }

    boolean hasDriver() {
        return scope.driver() != null;
    }

    String driver() {
        if (scope.driver() == null) {
            throw new NotCheckedException("no driver is given");
        }
        return scope.driver();
    }

    /** Reads an object; empty if it does not exist, or its kind is not served. */
    Optional<JsonNode> find(String path) {
        Answer answer = api.get(path);
        return answer.status() == NOT_FOUND ? Optional.empty() : Optional.of(expect(path, answer));
    }

    /**
     * Reads the objects of a list, one after the other; none if their kind is not served.
     *
     * @throws NotCheckedException if the server refuses it, or does not answer
     */
    public void list(String path, Consumer<JsonNode> each) {
        list(path, CHUNK, each);
    }

    private void list(String path, int limit, Consumer<JsonNode> each) {
        String next = "";
        do {
            String query = "limit=" + limit + (next.isEmpty() ? "" : "&continue=" + next);
            Optional<JsonNode> list = find(path + (path.contains("?") ? "&" : "?") + query);
            list.ifPresent(some -> some.path("items").forEach(each));
            next = list.map(some -> some.at("/metadata/continue").asText())
                    .map(text -> URLEncoder.encode(text, StandardCharsets.UTF_8))
                    .orElse("");
        } while (!next.isEmpty());
    }

    private static JsonNode expect(String path, Answer answer) {
        if (answer.status() / 100 == 2) {
            return understood("GET", path, answer).body();
        }
        throw new NotCheckedException("GET %s was answered %d: %s"
                .formatted(
                        path.split("\\?", 2)[0],
                        answer.status(),
                        answer.body().path("message").asText("no message")));
    }

    List<NodeFacts> nodes() {
        return nodes.get();
    }

    private List<NodeFacts> readNodes() {
        List<NodeFacts> found = new ArrayList<>();
        if (scope.node() == null) {
            list("api/v1/nodes", node -> found.add(NodeFacts.of(node)));
        } else {
            find("api/v1/nodes/" + scope.node()).map(NodeFacts::of).ifPresent(found::add);
        }
        return found;
    }

    /** Returns whether all drivers and nodes are in scope. */
    public boolean isWhole() {
        return scope.equals(Scope.CLUSTER);
    }

    /** Returns whether a driver is in scope; for a single node, those that publish its devices are. */
    public boolean includes(String driver) {
        return (scope.driver() == null || scope.driver().equals(driver))
                && (scope.node() == null
                        || slices().stream().anyMatch(slice -> slice.driver().equals(driver)));
    }

    List<SliceFacts> slices() {
        return slicesByNode.get().values().stream().flatMap(List::stream).toList();
    }

    /** The pools with a slice in scope, with all their slices: one that lacks some on a node may span nodes. */
    Collection<List<SliceFacts>> pools() {
        Map<PoolId, List<SliceFacts>> pools = pools(slices());
        if (!pools.values().stream().allMatch(SliceFacts::areComplete)) {
            Map<PoolId, List<SliceFacts>> all = pools(slicesOfAllNodes.get());
            pools.replaceAll((pool, ofScope) -> all.getOrDefault(pool, ofScope));
        }
        return pools.values();
    }

    private static Map<PoolId, List<SliceFacts>> pools(List<SliceFacts> slices) {
        return slices.stream().collect(Collectors.groupingBy(SliceFacts::poolId, LinkedHashMap::new, toList()));
    }

    private List<SliceFacts> readSlices(boolean ofNode) {
        String selector = Stream.of(
                        scope.driver() == null ? "" : "spec.driver=" + scope.driver(),
                        ofNode ? "spec.nodeName=" + scope.node() : "")
                .filter(one -> !one.isEmpty())
                .collect(Collectors.joining(","));
        List<SliceFacts> found = new ArrayList<>();
        list(
                SLICES + "?fieldSelector=" + URLEncoder.encode(selector, StandardCharsets.UTF_8),
                scope.driver() == null || scope.node() == null ? CHUNK : CHUNK_OF_DRIVER,
                slice -> found.add(SliceFacts.of(slice)));
        return found;
    }

    private Map<String, List<SliceFacts>> readSlicesByNode() {
        List<SliceFacts> slices = scope.node() == null ? slicesOfAllNodes.get() : readSlices(true);
        return slices.stream().collect(Collectors.groupingBy(SliceFacts::node, TreeMap::new, toList()));
    }

    List<SliceFacts> slicesOf(NodeFacts node) {
        return slicesByNode.get().getOrDefault(node.name(), List.of());
    }

    /** The nodes that a driver runs on: those with slices, or the one in scope. */
    List<NodeFacts> driverNodes() {
        return scope.node() != null
                ? nodes()
                : nodes().stream().filter(node -> !slicesOf(node).isEmpty()).toList();
    }

    /** The drivers that publish devices of a node. */
    List<String> driversOf(NodeFacts node) {
        return scope.driver() != null
                ? List.of(scope.driver())
                : slicesOf(node).stream()
                        .map(SliceFacts::driver)
                        .distinct()
                        .sorted()
                        .toList();
    }

    /** A value that is read once, or the reason why it can't be: another try may take as long. */
    private static final class Once<T> implements Supplier<T> {

        private final Supplier<T> reading;
        private @Nullable Supplier<T> result;

        Once(Supplier<T> reading) {
            this.reading = reading;
        }

        @Override
        public T get() {
            Supplier<T> known = result;
            if (known == null) {
                known = read();
                result = known;
            }
            return known.get();
        }

        private Supplier<T> read() {
            try {
                T value = reading.get();
                return () -> value;
            } catch (NotCheckedException e) {
                return () -> {
                    throw e;
                };
            }
        }
    }
}
