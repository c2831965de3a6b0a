// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import static java.util.stream.Collectors.toList;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.cluster.ClusterApi.Answer;
import io.dra4j.doctor.cluster.SliceFacts.PoolId;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The objects that checks read; each list is read once for all checks. Not thread-safe. */
public final class ClusterView {

    private static final int NOT_FOUND = 404;
    private static final int CHUNK = 500;

    private final ClusterApi api;
    private final Scope scope;
    private final Map<String, Supplier<List<JsonNode>>> lists = new HashMap<>();
    private @Nullable List<NodeFacts> nodes;
    private @Nullable List<SliceFacts> allSlices;
    private @Nullable Map<String, List<SliceFacts>> slicesByNode;

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
     * Reads a list, once; empty if its kind is not served.
     *
     * @throws NotCheckedException if the server refuses it, or does not answer
     */
    public List<JsonNode> list(String path) {
        return lists.computeIfAbsent(path, this::read).get();
    }

    private Supplier<List<JsonNode>> read(String path) {
        try {
            List<JsonNode> items = new ArrayList<>();
            String next = "";
            do {
                String page = path + "?limit=" + CHUNK + (next.isEmpty() ? "" : "&continue=" + next);
                Optional<JsonNode> list = find(page);
                list.ifPresent(some -> some.path("items").forEach(one -> items.add(lean(one))));
                next = list.map(some -> some.at("/metadata/continue").asText())
                        .map(text -> URLEncoder.encode(text, StandardCharsets.UTF_8))
                        .orElse("");
            } while (!next.isEmpty());
            return () -> items;
        } catch (NotCheckedException e) {
            return () -> {
                throw e;
            };
        }
    }

    /** Drops the record of who wrote which field: it makes up half of an object, and no check reads it. */
    private static JsonNode lean(JsonNode object) {
        if (object.path("metadata") instanceof ObjectNode metadata) {
            metadata.remove("managedFields");
        }
        return object;
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
        List<NodeFacts> known = nodes;
        if (known == null) {
            List<JsonNode> found = scope.node() == null
                    ? list("api/v1/nodes")
                    : find("api/v1/nodes/" + scope.node()).stream().toList();
            known = found.stream().map(NodeFacts::of).toList();
            nodes = known;
        }
        return known;
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
        return slicesByNode().values().stream().flatMap(List::stream).toList();
    }

    /** The pools with a slice in scope, with all their slices: a pool may span nodes. */
    List<List<SliceFacts>> pools() {
        Map<PoolId, List<SliceFacts>> pools =
                allSlices().stream().collect(Collectors.groupingBy(SliceFacts::poolId, toList()));
        return slices().stream()
                .map(SliceFacts::poolId)
                .distinct()
                .map(pools::get)
                .toList();
    }

    private List<SliceFacts> allSlices() {
        List<SliceFacts> known = allSlices;
        if (known == null) {
            known = list("apis/resource.k8s.io/v1/resourceslices").stream()
                    .map(SliceFacts::of)
                    .toList();
            allSlices = known;
        }
        return known;
    }

    private Map<String, List<SliceFacts>> slicesByNode() {
        Map<String, List<SliceFacts>> known = slicesByNode;
        if (known == null) {
            known = allSlices().stream()
                    .filter(scope::includes)
                    .collect(Collectors.groupingBy(SliceFacts::node, TreeMap::new, toList()));
            slicesByNode = known;
        }
        return known;
    }

    List<SliceFacts> slicesOf(NodeFacts node) {
        return slicesByNode().getOrDefault(node.name(), List.of());
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
}
