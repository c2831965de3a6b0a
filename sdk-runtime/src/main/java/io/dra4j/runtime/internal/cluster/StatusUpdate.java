// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Updates {@code status.devices} like server-side apply, for a driver that may only update.
 *
 * <p>Pure. Fields that a manager wrote before and now leaves out are removed, according to the claim's {@code
 * managedFields}, unless another manager also wrote them; what others wrote stays.
 */
final class StatusUpdate {

    private static final List<String> KEYS = List.of("driver", "pool", "device", "shareID");
    private static final String CONDITIONS = "conditions";
    private static final String FIELD = "f:";
    private static final String KEY = "k:";

    private final ObjectNode claim;
    private final String manager;
    private final List<JsonNode> wanted;

    private StatusUpdate(ObjectNode claim, String manager, List<JsonNode> wanted) {
        this.claim = claim;
        this.manager = manager;
        this.wanted = wanted;
    }

    /**
     * Returns the claim as it should be written.
     *
     * @param claim the claim from the API server; it is not changed
     * @param wanted all entries that the manager wants
     */
    static ObjectNode of(ObjectNode claim, String manager, List<JsonNode> wanted) {
        StatusUpdate update = new StatusUpdate(claim.deepCopy(), manager, wanted);
        update.removeGivenUp();
        wanted.forEach(update::merge);
        return update.claim;
    }

    private ArrayNode devices() {
        return claim.withObject("/status").withArrayProperty("devices");
    }

    private void removeGivenUp() {
        Set<List<String>> mine = new HashSet<>();
        Set<List<String>> others = new HashSet<>();
        for (JsonNode share : claim.at("/metadata/managedFields")) {
            boolean isMine = share.path("manager").asText().equals(manager)
                    && share.path("subresource").asText().equals("status");
            collect(share.at("/fieldsV1/f:status/f:devices"), isMine ? mine : others);
        }
        mine.removeAll(others);
        mine.forEach(this::removeUnlessWanted);
        devices().removeIf(entry -> isMadeBy(mine, entry) && hasKeysAlone(entry));
    }

    /** Paths of a key of an entry, a field, and perhaps the type of a condition. */
    private static void collect(JsonNode owned, Set<List<String>> paths) {
        for (Map.Entry<String, JsonNode> entry : owned.properties()) {
            for (Map.Entry<String, JsonNode> field : entry.getValue().properties()) {
                String key = entry.getKey();
                if (field.getKey().equals(FIELD + CONDITIONS)) {
                    field.getValue().fieldNames().forEachRemaining(it -> paths.add(List.of(key, CONDITIONS, it)));
                } else if (field.getKey().startsWith(FIELD)) {
                    paths.add(List.of(key, field.getKey().substring(FIELD.length())));
                }
            }
        }
    }

    private void removeUnlessWanted(List<String> path) {
        Optional<JsonNode> found = present(key(path.get(0)));
        if (found.isEmpty() || KEYS.contains(path.get(1))) {
            return;
        }
        ObjectNode entry = (ObjectNode) found.get();
        Optional<JsonNode> still = wanted(key(path.get(0)));
        if (path.size() == 2) {
            if (still.isEmpty() || !still.get().has(path.get(1))) {
                entry.remove(path.get(1));
            }
        } else if (path.get(2).startsWith(KEY)) {
            String type = key(path.get(2)).path("type").asText();
            if (still.isEmpty() || !hasCondition(still.get(), type)) {
                removeCondition(entry, type);
            }
        }
    }

    private static JsonNode key(String path) {
        return Json.parse(path.substring(KEY.length()));
    }

    private boolean isMadeBy(Set<List<String>> mine, JsonNode entry) {
        return wanted(entry).isEmpty()
                && mine.stream()
                        .map(path -> path.get(0))
                        .anyMatch(key -> key.startsWith(KEY) && isSame(key(key), entry));
    }

    /** Kubernetes gives an entry without conditions {@code null} for them. */
    private static boolean hasKeysAlone(JsonNode entry) {
        return entry.properties().stream()
                .allMatch(field ->
                        KEYS.contains(field.getKey()) || field.getValue().isNull());
    }

    private void merge(JsonNode entry) {
        ObjectNode target = (ObjectNode)
                present(entry).orElseGet(() -> devices().addObject().setAll(keys(entry)));
        for (Map.Entry<String, JsonNode> field : entry.properties()) {
            if (!field.getKey().equals(CONDITIONS)) {
                target.set(field.getKey(), field.getValue());
            }
        }
        for (JsonNode condition : entry.path(CONDITIONS)) {
            removeCondition(target, condition.path("type").asText());
            target.withArrayProperty(CONDITIONS).add(condition);
        }
    }

    private static ObjectNode keys(JsonNode entry) {
        ObjectNode keys = Json.object();
        KEYS.stream().filter(entry::has).forEach(name -> keys.set(name, entry.get(name)));
        return keys;
    }

    private static void removeCondition(ObjectNode entry, String type) {
        if (entry.get(CONDITIONS) instanceof ArrayNode conditions) {
            conditions.removeIf(condition -> condition.path("type").asText().equals(type));
            if (conditions.isEmpty()) {
                entry.remove(CONDITIONS);
            }
        }
    }

    private static boolean hasCondition(JsonNode entry, String type) {
        return entry.path(CONDITIONS).findValuesAsText("type").contains(type);
    }

    private Optional<JsonNode> present(JsonNode key) {
        return devices().valueStream().filter(entry -> isSame(key, entry)).findFirst();
    }

    private Optional<JsonNode> wanted(JsonNode key) {
        return wanted.stream().filter(entry -> isSame(key, entry)).findFirst();
    }

    private static boolean isSame(JsonNode key, JsonNode entry) {
        return KEYS.stream().allMatch(name -> key.path(name).equals(entry.path(name)));
    }
}
