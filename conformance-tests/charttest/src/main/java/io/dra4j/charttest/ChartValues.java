// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The values of a chart: their defaults, their schema and their comments. */
final class ChartValues {

    private static final Pattern KEY = Pattern.compile("^( *)([A-Za-z0-9_-]+):.*");
    private static final String COMMENT = "# -- ";
    private static final int INDENT = 2;

    /** Set by Helm itself. */
    private static final List<String> OF_HELM = List.of("global", "dra4j-library");

    private final JsonNode defaults;
    private final JsonNode schema;
    private final Map<String, String> comments;

    ChartValues(Path chart) {
        try {
            defaults = Manifests.MAPPER.readTree(chart.resolve("values.yaml").toFile());
            schema = Manifests.MAPPER.readTree(
                    chart.resolve("values.schema.json").toFile());
            comments = comments(Files.readAllLines(chart.resolve("values.yaml")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, String> comments(List<String> lines) {
        Map<String, String> comments = new LinkedHashMap<>();
        List<String> path = new ArrayList<>();
        String comment = "";
        for (String line : lines) {
            Matcher key = KEY.matcher(line);
            if (line.strip().startsWith(COMMENT)) {
                comment = line.strip().substring(COMMENT.length());
            } else if (key.matches()) {
                int depth = key.group(1).length() / INDENT;
                path.subList(Math.min(depth, path.size()), path.size()).clear();
                path.add(key.group(2));
                if (!comment.isEmpty()) {
                    comments.put(String.join(".", path), comment);
                    comment = "";
                }
            }
        }
        return comments;
    }

    /** Returns the paths of values of the defaults, and of the schema. */
    List<List<String>> paths() {
        List<String> ofDefaults = new ArrayList<>();
        List<String> ofSchema = new ArrayList<>();
        walk("", schema, defaults, ofDefaults, ofSchema);
        return List.of(ofDefaults, ofSchema);
    }

    /** Stops where the schema allows any key. */
    private static void walk(String path, JsonNode type, JsonNode value, List<String> values, List<String> types) {
        type.path("properties").fieldNames().forEachRemaining(name -> types.add(path + name));
        if (!type.path("properties").isEmpty()) {
            value.fieldNames().forEachRemaining(name -> values.add(path + name));
        }
        type.path("properties")
                .properties()
                .forEach(one ->
                        walk(path + one.getKey() + ".", one.getValue(), value.path(one.getKey()), values, types));
        types.removeAll(OF_HELM);
    }

    /** Returns the paths of all objects of which the schema knows the keys; empty for the root. */
    List<String> objects() {
        List<String> objects = new ArrayList<>();
        addObjects("", schema, objects);
        return objects;
    }

    private static void addObjects(String path, JsonNode type, List<String> objects) {
        if (!type.path("properties").isEmpty()) {
            objects.add(path);
        }
        type.path("properties")
                .properties()
                .forEach(one ->
                        addObjects(path.isEmpty() ? one.getKey() : path + "." + one.getKey(), one.getValue(), objects));
    }

    /** Returns the values whose comment is on no key. */
    List<String> unknownComments() {
        return comments.keySet().stream()
                .filter(path -> at(path).isMissingNode())
                .toList();
    }

    private JsonNode at(String path) {
        JsonNode node = defaults;
        for (String key : path.split("\\.", -1)) {
            node = node.path(key);
        }
        return node;
    }

    /** Returns the table of the reference: each value, its default, and its comment. */
    String table() {
        StringBuilder table = new StringBuilder("| value | default | |\n|---|---|---|\n");
        addRows("", schema, table);
        return table.toString();
    }

    private void addRows(String prefix, JsonNode type, StringBuilder table) {
        for (Map.Entry<String, JsonNode> one : type.path("properties").properties()) {
            String path = prefix + one.getKey();
            if (OF_HELM.contains(path)) {
                continue;
            }
            if (one.getValue().path("properties").isEmpty() || isGates(one.getValue(), path)) {
                JsonNode value = at(path);
                String shown = value instanceof MissingNode ? "" : value.toString();
                table.append("| `%s` | `%s` | %s |\n".formatted(path, shown, comments.getOrDefault(path, "")));
            } else {
                addRows(path + ".", one.getValue(), table);
            }
        }
    }

    /** A map whose keys are known, and which is empty by default. */
    private boolean isGates(JsonNode type, String path) {
        return type.path("properties").size() > 0 && at(path).isObject() && at(path).isEmpty();
    }
}
