// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Fields of an object, as {@code metadata.managedFields} names them.
 *
 * <p>A path is a list of steps: {@code f:name} for a field, {@code k:{"type":"Ready"}} for an
 * element of a list that merges by key, {@code v:"x"} for an element of a set.
 */
record FieldSet(Set<List<String>> paths) {
    static final FieldSet EMPTY = new FieldSet(Set.of());

    /** In a tree of fields: the node itself belongs to the set, and not only its children. */
    private static final String SELF = ".";

    public FieldSet {
        paths = Set.copyOf(paths);
    }

    static FieldSet of(Collection<List<String>> paths) {
        return new FieldSet(new LinkedHashSet<>(paths));
    }

    /** Reads {@code fieldsV1}. */
    public static FieldSet decode(JsonNode fields) {
        Set<List<String>> paths = new LinkedHashSet<>();
        collect(fields, List.of(), paths);
        return new FieldSet(paths);
    }

    private static void collect(JsonNode node, List<String> path, Set<List<String>> paths) {
        if (node.isEmpty() && !path.isEmpty()) {
            paths.add(path);
        }
        for (Map.Entry<String, JsonNode> step : node.properties()) {
            if (step.getKey().equals(SELF)) {
                paths.add(path);
            } else {
                collect(step.getValue(), append(path, step.getKey()), paths);
            }
        }
    }

    /** Writes {@code fieldsV1}, in a stable order. */
    public ObjectNode encode() {
        ObjectNode root = JsonTrees.object();
        List<List<String>> all = sorted();
        all.forEach(path -> node(root, path));
        for (List<String> path : all) {
            ObjectNode node = node(root, path);
            if (!node.isEmpty()) {
                node.putObject(SELF);
            }
        }
        return root;
    }

    private static ObjectNode node(ObjectNode root, List<String> path) {
        ObjectNode node = root;
        for (String step : path) {
            node = JsonTrees.child(node, step);
        }
        return node;
    }

    static List<String> append(List<String> path, String step) {
        List<String> longer = new ArrayList<>(path);
        longer.add(step);
        return List.copyOf(longer);
    }

    boolean isEmpty() {
        return paths.isEmpty();
    }

    boolean contains(List<String> path) {
        return paths.contains(path);
    }

    FieldSet plus(FieldSet other) {
        Set<List<String>> union = new LinkedHashSet<>(paths);
        union.addAll(other.paths);
        return new FieldSet(union);
    }

    FieldSet minus(FieldSet other) {
        return where(path -> !other.contains(path));
    }

    FieldSet and(FieldSet other) {
        return where(other::contains);
    }

    FieldSet where(Predicate<List<String>> wanted) {
        return of(paths.stream().filter(wanted).toList());
    }

    /** The paths as messages name them: {@code .status.devices[device="gpu-0"].data}. */
    List<String> texts() {
        return sorted().stream().map(FieldSet::text).toList();
    }

    private static String text(List<String> path) {
        return path.stream().map(FieldSet::text).collect(Collectors.joining());
    }

    private static String text(String step) {
        String value = step.substring(2);
        if (step.startsWith("f:")) {
            return "." + value;
        }
        if (step.startsWith("v:")) {
            return "[=" + value + "]";
        }
        return JsonTrees.parse(value).properties().stream()
                .map(key -> key.getKey() + "=" + key.getValue())
                .collect(Collectors.joining(",", "[", "]"));
    }

    private List<List<String>> sorted() {
        return paths.stream()
                .sorted((a, b) -> String.join("\0", a).compareTo(String.join("\0", b)))
                .toList();
    }
}
