// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The calls that a kubelet omits from release 1.37 on: those that no device of the driver in a claim needs, according
 * to {@code skipNodeOperations} in the allocation.
 *
 * <p>Claims that were read are remembered, because they may be deleted when they are unprepared.
 */
final class SkippedCalls {

    private static final int FIRST = 37;
    private static final String ALL = "*";

    private final int minor;
    private final Function<KubeletClaim, Optional<JsonNode>> reader;
    private final Map<String, JsonNode> known = new ConcurrentHashMap<>(); // by UID

    SkippedCalls(int minor, Function<KubeletClaim, Optional<JsonNode>> reader) {
        this.minor = minor;
        this.reader = reader;
    }

    /** The claims for which the driver is called. */
    List<KubeletClaim> due(String driver, List<KubeletClaim> claims, String call) {
        return minor < FIRST
                ? claims
                : claims.stream()
                        .filter(claim -> !isSkipped(driver, claim, call))
                        .toList();
    }

    private boolean isSkipped(String driver, KubeletClaim claim, String call) {
        reader.apply(claim)
                .filter(object -> object.at("/metadata/uid").asText().equals(claim.uid()))
                .ifPresent(object -> known.put(claim.uid(), object));
        JsonNode object = known.get(claim.uid());
        if (object == null) {
            return false;
        }
        List<JsonNode> own = object.at("/status/allocation/devices/results")
                .valueStream()
                .filter(result -> result.path("driver").asText().equals(driver))
                .toList();
        return !own.isEmpty() && own.stream().allMatch(result -> canDoWithout(result, call));
    }

    private static boolean canDoWithout(JsonNode result, String call) {
        return result.path("skipNodeOperations")
                .valueStream()
                .map(JsonNode::asText)
                .anyMatch(name -> name.equals(call) || name.equals(ALL));
    }
}
