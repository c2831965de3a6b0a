// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.CdiView;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.StreamSupport;

/**
 * The edits of a container, gathered as a container runtime does: later edits override earlier ones.
 *
 * <p>Not thread-safe.
 */
final class GatheredEdits {
    private final Map<String, String> env = new LinkedHashMap<>();
    private final List<String> others = new ArrayList<>();

    /** Returns the edits of a container with these devices; a spec's own edits once, before its devices'. */
    static GatheredEdits of(CdiView cdi, Collection<String> ids) {
        GatheredEdits edits = new GatheredEdits();
        Set<String> entered = new HashSet<>();
        for (String id : new LinkedHashSet<>(ids)) {
            CdiView.Resolved found = cdi.resolve(id);
            if (entered.add(found.file())) {
                edits.add(found.spec().path("containerEdits"));
            }
            edits.add(found.device().path("containerEdits"));
        }
        return edits;
    }

    private void add(JsonNode containerEdits) {
        for (JsonNode variable : containerEdits.path("env")) {
            String[] parts = variable.asText().split("=", 2);
            env.put(parts[0], parts.length == 2 ? parts[1] : "");
        }
        containerEdits.path("deviceNodes").forEach(node -> other("device", "path", node));
        containerEdits.path("mounts").forEach(node -> other("mount", "containerPath", node));
        containerEdits.path("hooks").forEach(node -> other("hook", "hookName", node));
        containerEdits.path("netDevices").forEach(node -> other("net", "name", node));
        containerEdits.path("additionalGids").forEach(gid -> others.add("gid    " + gid));
    }

    private void other(String kind, String nameField, JsonNode node) {
        List<String> rest = StreamSupport.stream(node.properties().spliterator(), false)
                .filter(field -> !field.getKey().equals(nameField))
                .map(field -> field.getKey() + "=" + plain(field.getValue()))
                .toList();
        String line = "%-6s %s %s".formatted(kind, plain(node.path(nameField)), rest);
        others.add(rest.isEmpty() ? line.replace(" []", "") : line);
    }

    private static String plain(JsonNode value) {
        return value.isTextual() ? value.textValue() : value.toString();
    }

    /** Returns a line for each change that the container sees. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        env.forEach((name, value) -> lines.add("env    " + name + "=" + value));
        lines.addAll(others);
        return lines;
    }
}
