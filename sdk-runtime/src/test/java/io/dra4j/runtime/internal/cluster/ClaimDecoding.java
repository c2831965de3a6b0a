// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Pool;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Decodes and reads claims and devices for tests of other packages. */
public final class ClaimDecoding {

    public static final List<String> UNORDERED = List.of(
            "taints",
            "consumesCounters",
            "bindingConditions",
            "bindingFailureConditions",
            "sharedCounters",
            "values",
            "matchExpressions",
            "matchFields");

    private ClaimDecoding() {}

    public static ClaimObject decode(String json) {
        return ClaimCodec.decode(json);
    }

    public static Device device(String json) {
        return DeviceCodec.decode(Json.parse(json));
    }

    /** A reader of lists of claims, which reads no single one. */
    public static ClaimReader listing(Supplier<Map<ClaimRef, ClaimObject>> claims) {
        return new ClaimReader() {
            @Override
            public ClaimObject read(ClaimRef claim, Duration limit) {
                throw new AssertionError("no single claim is read");
            }

            @Override
            public Map<ClaimRef, ClaimObject> readAll(Duration limit) {
                return claims.get();
            }
        };
    }

    /** Returns a spec with the lists in one order that mean the same in any, which decoding sorts. */
    public static JsonNode sorted(JsonNode spec) {
        JsonNode sorted = spec.deepCopy();
        for (String list : UNORDERED) {
            for (JsonNode parent : sorted.findParents(list)) {
                List<JsonNode> elements = parent.get(list)
                        .valueStream()
                        .sorted(Comparator.comparing(Json::sorted))
                        .toList();
                ((ObjectNode) parent).putArray(list).addAll(elements);
            }
        }
        return sorted;
    }

    /** Decodes the spec of a slice as a pool with another name; empty if it is not in the SDK's form. */
    public static Optional<Pool> pool(JsonNode spec) {
        ObjectNode slice = Json.object();
        slice.putObject("spec").setAll((ObjectNode) spec.deepCopy());
        slice.withObject("/spec").putObject("pool").put("name", "pool-1");
        return new SliceCodec("", "")
                .decode(slice, "")
                .filter(SliceStore.Stored::isDecoded)
                .map(SliceStore.Stored::content)
                .map(it -> Pool.builder("pool-1")
                        .placement(it.placement())
                        .devices(it.devices())
                        .counterSets(it.counterSets())
                        .build());
    }
}
