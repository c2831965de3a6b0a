// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Slices that the suite creates under other names, and deletes again. */
public final class PlantedSlices {

    private static final String OTHER_DRIVER = "other.dra-conformance.dev";

    private final TestContext context;
    private final Map<String, JsonNode> planted = new LinkedHashMap<>();
    private final Opened removal = new Opened();

    public PlantedSlices(TestContext context) {
        this.context = context;
    }

    /** Plants slices that an earlier process could have left: in the same pool, and in another. */
    public void stale(JsonNode like) {
        long generation = SeenPools.generation(like);
        plant("stale-same", like, spec -> pool(spec, SeenPools.pool(like), generation));
        plant("stale-older", like, spec -> pool(spec, SeenPools.pool(like), Math.max(0, generation - 1)));
        plant("stale-pool", like, spec -> pool(spec, "dra-conformance-removed", 1));
    }

    /** Plants slices of another driver on this node, and of this driver on another node. */
    void sentinels(String pool) {
        String node = context.place().node();
        String driver = context.place().driver();
        plant("other-driver", null, spec -> of(spec, OTHER_DRIVER, node, pool));
        plant("other-node", null, spec -> of(spec, driver, node + "-other", pool));
        plant("other-nodes-pool", null, spec -> of(spec, driver, node + "-other", node + "-other"));
    }

    private static void of(ObjectNode spec, String driver, String node, String pool) {
        pool(spec.put("driver", driver).put("nodeName", node), pool, 1);
    }

    private static void pool(ObjectNode spec, String name, long generation) {
        spec.putObject("pool").put("name", name).put("generation", generation).put("resourceSliceCount", 1);
    }

    private void plant(String name, @Nullable JsonNode like, Consumer<ObjectNode> change) {
        String unique = context.place().node() + "-planted-" + name;
        ObjectNode slice = TestContext.labelled("ResourceSlice", unique).put("apiVersion", "resource.k8s.io/v1");
        ObjectNode spec = slice.putObject("spec");
        if (like != null) {
            slice.withObject("/metadata")
                    .set("ownerReferences", like.at("/metadata/ownerReferences").deepCopy());
            spec.setAll((ObjectNode) like.path("spec").deepCopy());
            spec.remove("sharedCounters");
        }
        change.accept(spec);
        spec.putArray("devices").addObject().put("name", "planted-" + name);
        Opened created = context.change(
                () -> planted.put(unique, context.cluster().create(Publishing.SLICES, slice)),
                () -> context.cluster().delete(Publishing.SLICES + "/" + unique));
        removal.onEnd(created::close);
        context.transcript().note("another client creates slice " + unique);
    }

    /** Returns the slices that are seen, except for those of a pool that the driver does not have. */
    public SeenPools without(SeenPools seen) {
        return new SeenPools(seen.slices().stream()
                .filter(s -> !SeenPools.pool(s).equals("dra-conformance-removed"))
                .toList());
    }

    /** Returns the driver's writes to the slices, and its attempts, if any. */
    Optional<String> harm(int number) {
        for (RecordedRequest write : context.proxy().requests(Publishing.WRITES.and(Requests.after(number)))) {
            JsonNode own = planted.get(write.name());
            if (own != null) {
                return Optional.of(
                        "the driver sent %s for slice %s, %s".formatted(write.method(), write.name(), whose(own)));
            }
        }
        return planted.entrySet().stream()
                .filter(one -> !isAsPlanted(one.getKey(), one.getValue()))
                .findFirst()
                .map(one -> "slice %s, %s, was changed or deleted while the driver repaired its own slices"
                        .formatted(one.getKey(), whose(one.getValue())));
    }

    private boolean isAsPlanted(String name, JsonNode slice) {
        return context.cluster()
                .find(Publishing.SLICES + "/" + name)
                .filter(now -> now.at("/metadata/uid").equals(slice.at("/metadata/uid"))
                        && now.path("spec").equals(slice.path("spec")))
                .isPresent();
    }

    private static String whose(JsonNode slice) {
        return "which belongs to driver %s on node %s"
                .formatted(
                        slice.at("/spec/driver").asText(),
                        slice.at("/spec/nodeName").asText());
    }

    public void remove() {
        removal.close();
    }
}
