// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.cluster.ClaimCodec.PendingClaim;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * The claims in the cluster: requests and watches through {@link ApiCalls}.
 *
 * <p>Reads of a claim are retried after transient failures; the time is measured on the monotonic clock. Thread-safe.
 */
final class KubernetesClaims implements ClaimReader, ClaimFeed, ClaimStatuses {

    private static final String DRA_API = "apis/resource.k8s.io/v1/";
    private static final String PATH = DRA_API + "resourceclaims";
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final Duration LIST_LIMIT = Duration.ofMinutes(1);
    private static final Duration UPDATES = Duration.ofMinutes(10);
    private static final int PAGE = 500;
    private static final int CONFLICT = 409;
    private static final int MOST_ATTEMPTS = 5;
    private static final InstantSource MONOTONIC = () -> Instant.EPOCH.plusNanos(System.nanoTime());

    private final ApiCalls calls;
    private final TransientRetry retry =
            new TransientRetry(MONOTONIC, pause -> Thread.sleep(pause.toMillis()), RandomGenerator.getDefault());

    /** The time when a patch may be tried again after a forbidden one. */
    private volatile Instant noPatchBefore = Instant.MIN;

    KubernetesClaims(ApiCalls calls) {
        this.calls = calls;
    }

    @Override
    public ClaimObject read(ClaimRef ref, Duration limit) {
        String json;
        try {
            json = retry.until(MONOTONIC.instant().plus(limit), left -> calls.read(path(ref), left));
        } catch (ClusterException.NotFound e) {
            throw gone(ref);
        }
        return claim(json);
    }

    private static ClaimObject claim(String json) {
        return ApiCalls.understood("no ResourceClaim", json, ClaimCodec::decode);
    }

    private static ClusterException gone(ClaimRef ref) {
        return new ClusterException.NotFound(
                "ResourceClaim %s/%s with UID %s no longer exists; a pod that still waits for it must be recreated"
                        .formatted(ref.namespace(), ref.name(), ref.uid()));
    }

    @Override
    public void readAll(Duration limit, BiConsumer<ClaimRef, ClaimObject> each) {
        Instant deadline = MONOTONIC.instant().plus(limit);
        Consumer<JsonNode> item =
                claim -> each.accept(ref(claim.path("metadata")), ClaimCodec.decode(claim, claim.toString()));
        String next = "";
        do {
            String path = PATH + "?limit=" + PAGE + (next.isEmpty() ? "" : "&continue=" + next);
            JsonNode page = retry.until(deadline, left -> calls.list(path, item, left));
            next = URLEncoder.encode(page.path("continue").asText(""), StandardCharsets.UTF_8);
        } while (!next.isEmpty());
    }

    /** Lists them from the API server's watch cache, which costs etcd nothing, and has no chunks. */
    void pending(Consumer<PendingClaim> claim, Duration limit) {
        calls.list(PATH + "?resourceVersion=0", json -> ClaimCodec.pending(json).ifPresent(claim), limit);
    }

    private static ClaimRef ref(JsonNode metadata) {
        return new ClaimRef(
                metadata.path("namespace").asText(),
                metadata.path("name").asText(),
                metadata.path("uid").asText());
    }

    @Override
    public String list(Consumer<String> claim) {
        JsonNode list = calls.list(PATH, item -> claim.accept(item.toString()), LIST_LIMIT);
        return list.path("resourceVersion").asText();
    }

    @Override
    public Watch watch(String resourceVersion, Watch.Listener<String> listener) {
        String version = URLEncoder.encode(resourceVersion, StandardCharsets.UTF_8);
        return calls.watch(
                PATH + "?watch=true&allowWatchBookmarks=true&resourceVersion=" + version,
                claim -> Optional.of(claim.toString()),
                listener,
                LIMIT);
    }

    @Override
    public void apply(ClaimRef claim, String fieldManager, List<String> devices) {
        if (MONOTONIC.instant().isBefore(noPatchBefore)) {
            update(claim, fieldManager, devices);
            return;
        }
        try {
            patch(claim, fieldManager, devices);
        } catch (ClusterException.Forbidden e) {
            // ClusterRoles of Go drivers may have only the verb update.
            noPatchBefore = MONOTONIC.instant().plus(UPDATES);
            update(claim, fieldManager, devices);
        }
    }

    private void update(ClaimRef claim, String fieldManager, List<String> devices) {
        List<JsonNode> wanted = devices.stream().map(Json::parse).toList();
        String path = path(claim);
        for (int attempt = 1; ; attempt++) {
            ObjectNode present = ApiCalls.understood("no ResourceClaim", calls.read(path, LIMIT), Json::parseObject);
            if (!present.at("/metadata/uid").asText().equals(claim.uid())) {
                throw gone(claim);
            }
            ObjectNode next = StatusUpdate.of(present, fieldManager, wanted);
            if (next.at("/status/devices").equals(present.at("/status/devices"))
                    || (devices.isEmpty() && present.at("/status/devices").isEmpty())) {
                return;
            }
            try {
                calls.send("PUT", path + "/status?fieldManager=" + encoded(fieldManager), next, LIMIT);
                return;
            } catch (ClusterException e) {
                if (e.status() != CONFLICT || attempt == MOST_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private static String encoded(String fieldManager) {
        return URLEncoder.encode(fieldManager, StandardCharsets.UTF_8);
    }

    private void patch(ClaimRef claim, String fieldManager, List<String> devices) {
        ObjectNode body = Json.object().put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceClaim");
        // The UID keeps a claim's report away from another claim that has its name by now.
        body.putObject("metadata")
                .put("name", claim.name())
                .put("namespace", claim.namespace())
                .put("uid", claim.uid());
        Json.putList(body.putObject("status"), "devices", devices, Json::parse);
        if (devices.isEmpty()) {
            body.remove("status");
        }
        String query = "?force=true&fieldManager=" + encoded(fieldManager);
        calls.apply(path(claim) + "/status" + query, body, LIMIT);
    }

    @Override
    public boolean exists(ClaimRef claim) {
        try {
            return claim(calls.read(path(claim), LIMIT)).uid().equals(claim.uid());
        } catch (ClusterException.NotFound e) {
            return false;
        }
    }

    /** Both names are checked by ClaimRef: neither contains a character that is special in a URL. */
    private static String path(ClaimRef claim) {
        return DRA_API + "namespaces/" + claim.namespace() + "/resourceclaims/" + claim.name();
    }

    /**
     * Updates {@code status.devices} like server-side apply, for a driver that may only update.
     *
     * <p>Pure. Fields that a manager wrote before and now leaves out are removed, according to the claim's {@code
     * managedFields}, unless another manager also wrote them; what others wrote stays.
     */
    private record StatusUpdate(ObjectNode claim, String manager, List<JsonNode> wanted) {

        private static final List<String> KEYS = List.of("driver", "pool", "device", "shareID");
        private static final String CONDITIONS = "conditions";
        private static final String FIELD = "f:";
        private static final String KEY = "k:";

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
}
