// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The planned slices of each pool, and the writes that publish them.
 *
 * <p>A pool of which one slice alone differs keeps its generation; otherwise all its slices go to the next one.
 */
class SlicePlan {

    private static final int MOST_DEVICES = 128;
    private static final int MOST_WITH_EXTRAS = 64;
    private static final int MOST_COUNTER_SETS = 8;

    final BareDriver driver = Parts.driver();
    private final Map<String, JsonNode> accepted = new HashMap<>();
    private String nodeUid = "";

    void apply(List<JsonNode> existing) {
        Map<String, List<ObjectNode>> pools = driver.inventory.pools();
        for (JsonNode slice : existing) {
            if (isStale(slice, pools.keySet())) {
                delete(slice);
            }
        }
        pools.forEach((name, devices) -> apply(
                name,
                desired(name, devices, existing),
                existing.stream()
                        .filter(slice -> poolOf(slice).equals(publishedPool(name)))
                        .sorted(Comparator.comparing(SlicePlan::name))
                        .toList()));
    }

    boolean isStale(JsonNode slice, java.util.Set<String> pools) {
        return pools.stream().noneMatch(name -> publishedPool(name).equals(poolOf(slice)));
    }

    static String poolOf(JsonNode slice) {
        return slice.at("/spec/pool/name").asText();
    }

    static String name(JsonNode slice) {
        return slice.at("/metadata/name").asText();
    }

    String publishedPool(String name) {
        return name;
    }

    /** The slices of a pool, without the data of the pool itself. */
    List<ObjectNode> desired(String pool, List<ObjectNode> devices, List<JsonNode> existing) {
        devices.forEach(device -> date(pool, device, existing));
        List<ObjectNode> slices = new ArrayList<>();
        for (List<ObjectNode> chunk : chunks(driver.inventory.counterSets(devices), MOST_COUNTER_SETS)) {
            ObjectNode spec = placement(Json.object().put("driver", driver.settings.driver()));
            spec.putArray("sharedCounters").addAll(chunk);
            slices.add(spec);
        }
        List<List<ObjectNode>> chunks = chunks(devices, mostDevices());
        for (List<ObjectNode> chunk : chunks.isEmpty() ? List.of(devices) : chunks) {
            ObjectNode spec = placement(Json.object().put("driver", driver.settings.driver()));
            if (!chunk.isEmpty()) { // an empty list does not come back from the server
                spec.putArray("devices").addAll(chunk);
            }
            slices.add(spec);
        }
        return slices;
    }

    int mostDevices() {
        boolean extras = driver.settings.number("--gpu-partitions", 0) > 0
                || !driver.settings.text("--fault-file", "").isEmpty();
        return extras ? MOST_WITH_EXTRAS : MOST_DEVICES;
    }

    static <T> List<List<T>> chunks(List<T> all, int size) {
        List<List<T>> chunks = new ArrayList<>();
        for (int from = 0; from < all.size(); from += size) {
            chunks.add(all.subList(from, Math.min(all.size(), from + size)));
        }
        return chunks;
    }

    ObjectNode placement(ObjectNode spec) {
        return spec.put("nodeName", driver.settings.node());
    }

    /** A taint keeps the time from which it is known. */
    void date(String pool, ObjectNode device, List<JsonNode> existing) {
        for (JsonNode taint : device.path("taints")) {
            String since = "";
            for (JsonNode slice : existing) {
                since = since.isEmpty() && poolOf(slice).equals(pool) ? known(slice, device, taint) : since;
            }
            String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
            ((ObjectNode) taint).put("timeAdded", since.isEmpty() ? now : since);
        }
    }

    private static String known(JsonNode slice, ObjectNode device, JsonNode taint) {
        for (JsonNode published : slice.at("/spec/devices")) {
            for (JsonNode other : published.path("taints")) {
                if (published.path("name").equals(device.path("name"))
                        && other.path("key").equals(taint.path("key"))
                        && other.path("value").equals(taint.path("value"))
                        && other.path("effect").equals(taint.path("effect"))) {
                    return other.path("timeAdded").asText();
                }
            }
        }
        return "";
    }

    void apply(String pool, List<ObjectNode> desired, List<JsonNode> existing) {
        List<JsonNode> left = new ArrayList<>(existing);
        JsonNode[] places = new JsonNode[desired.size()];
        for (int at = 0; at < places.length; at++) {
            ObjectNode wanted = desired.get(at);
            places[at] = left.stream()
                    .filter(slice -> same(slice, wanted))
                    .findFirst()
                    .orElse(null);
            left.remove(places[at]);
        }
        List<Integer> open = new ArrayList<>();
        for (int at = 0; at < places.length; at++) {
            if (places[at] == null) {
                open.add(at);
            }
        }
        boolean consistent = isConsistent(existing, desired.size());
        if (consistent && open.isEmpty() && left.isEmpty()) {
            return;
        }
        if (consistent && open.size() == 1 && left.size() == 1) {
            write(pool, left.get(0), desired.get(open.get(0)), generation(existing), open.get(0), places.length);
            return;
        }
        for (int at : open) {
            places[at] = left.isEmpty() ? null : left.remove(0);
        }
        long next = nextGeneration(existing);
        for (int at = 0; at < places.length; at++) {
            write(pool, places[at], desired.get(at), next, at, places.length);
        }
        left.forEach(this::delete);
    }

    boolean isConsistent(List<JsonNode> slices, int count) {
        return slices.stream()
                .map(slice -> slice.at("/spec/pool"))
                .allMatch(pool -> pool.path("generation").asLong() == generation(slices)
                        && pool.path("resourceSliceCount").asInt() == count);
    }

    static long generation(List<JsonNode> slices) {
        return slices.stream()
                .mapToLong(slice -> slice.at("/spec/pool/generation").asLong())
                .max()
                .orElse(0);
    }

    long nextGeneration(List<JsonNode> existing) {
        return generation(existing) + 1;
    }

    /** Returns whether a slice is as planned, or what the server made of that. */
    boolean same(JsonNode slice, ObjectNode wanted) {
        ObjectNode content = content(slice);
        return content.equals(wanted) || content.equals(accepted.get(wanted.toString()));
    }

    private static ObjectNode content(JsonNode slice) {
        ObjectNode content = slice.path("spec").deepCopy();
        content.remove("pool");
        return content;
    }

    JsonNode write(String pool, JsonNode place, ObjectNode wanted, long generation, int index, int count) {
        ObjectNode slice = place == null ? fresh(pool, index) : place.deepCopy();
        ObjectNode spec = wanted.deepCopy();
        spec.set("pool", pool(publishedPool(pool), generation, count));
        slice.set("spec", spec);
        JsonNode answer = place == null
                ? driver.api.post(ApiClient.SLICES, slice)
                : driver.api.put(ApiClient.SLICES + "/" + name(place), slice);
        accepted.put(wanted.toString(), content(answer));
        return answer;
    }

    ObjectNode pool(String name, long generation, int count) {
        return Json.object().put("name", name).put("generation", generation).put("resourceSliceCount", count);
    }

    ObjectNode fresh(String pool, int index) {
        ObjectNode slice = Json.object().put("apiVersion", "resource.k8s.io/v1");
        slice.put("kind", "ResourceSlice");
        ObjectNode metadata = named(slice.putObject("metadata"), pool, index);
        metadata.putArray("ownerReferences")
                .addObject()
                .put("apiVersion", "v1")
                .put("kind", "Node")
                .put("controller", true)
                .put("name", driver.settings.node())
                .put("uid", nodeUid());
        return slice;
    }

    /** The names sort in the order of the devices. */
    ObjectNode named(ObjectNode metadata, String pool, int index) {
        return metadata.put(
                "generateName", "%05x-%s-%s-".formatted(index, driver.settings.node(), driver.settings.driver()));
    }

    private String nodeUid() {
        if (nodeUid.isEmpty()) {
            String path = "/api/v1/nodes/" + driver.settings.node();
            nodeUid = driver.api.get(path).at("/metadata/uid").asText();
        }
        return nodeUid;
    }

    void delete(JsonNode slice) {
        try {
            driver.api.delete(ApiClient.SLICES + "/" + name(slice));
        } catch (ApiClient.Failed e) {
            if (e.status != 404) {
                throw e;
            }
        }
    }
}
