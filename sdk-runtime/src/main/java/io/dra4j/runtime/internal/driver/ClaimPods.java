// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ClaimCodec;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.Meters;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The pods for which claims are reserved, as the API server has them, if it can be asked.
 *
 * @param pods by claim, in words
 * @param notEvicted the claims whose pods this cluster does not evict, with the names of these pods
 * @param problem why some are unknown; empty if none is
 */
public record ClaimPods(Map<ClaimRef, String> pods, Map<ClaimRef, List<String>> notEvicted, String problem) {

    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final String EXTENDED_RESOURCE =
            "/metadata/annotations/resource.kubernetes.io~1extended-resource-claim";

    /** The first release that evicts pods whose claims were made for extended resources (#142289). */
    private static final int EVICTS_ALL = 38;

    private static final String NODE = "node"; // of no use here: claims have none

    /** Asks for the pods of claims. */
    public static ClaimPods of(List<HeldClaim> claims, @Nullable Path kubeconfig, String driverName) {
        Map<ClaimRef, String> pods = new HashMap<>();
        Map<ClaimRef, List<String>> extended = new LinkedHashMap<>();
        if (!claims.isEmpty()) {
            try (Meters meters = Meters.global(driverName, NODE);
                    Cluster cluster = Cluster.connect(kubeconfig, driverName, NODE, meters)) {
                for (HeldClaim claim : claims) {
                    String json = json(cluster.claimReader(), claim.ref());
                    pods.put(claim.ref(), json.isEmpty() ? "its object is deleted" : users(json));
                    if (isOfExtendedResource(json)) {
                        extended.put(claim.ref(), ClaimCodec.pods(json));
                    }
                }
                if (!extended.isEmpty() && evictsAll(cluster)) {
                    extended.clear();
                }
            } catch (DraException e) {
                String why = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
                return new ClaimPods(pods, extended, why);
            }
        }
        return new ClaimPods(pods, extended, "");
    }

    /** The pods of a claim, in words. */
    String of(ClaimRef claim) {
        return pods.getOrDefault(claim, "pods unknown");
    }

    private static boolean evictsAll(Cluster cluster) {
        return cluster.slices()
                .kubernetes()
                .filter(release -> !release.isBefore(1, EVICTS_ALL))
                .isPresent();
    }

    /** Returns a claim as the API server has it; empty if it is deleted. */
    private static String json(ClaimReader reader, ClaimRef claim) {
        try {
            return reader.read(claim, LIMIT).json();
        } catch (ClusterException.NotFound e) {
            return "";
        }
    }

    /** Returns what may use a claim: pods, or groups of them. */
    private static String users(String json) {
        Map<String, List<String>> names = new LinkedHashMap<>();
        for (JsonNode user : tree(json).at("/status/reservedFor")) {
            String group = user.path("apiGroup").asText();
            String resource = user.path("resource").asText();
            String kind = group.isEmpty() && resource.equals("pods") ? "pod" : resource + "." + group;
            names.computeIfAbsent(kind, key -> new ArrayList<>())
                    .add(user.path("name").asText());
        }
        return names.isEmpty()
                ? "reserved for no pod"
                : names.entrySet().stream()
                        .map(kind -> kind.getKey() + " " + String.join(", ", kind.getValue()))
                        .collect(Collectors.joining("; "));
    }

    private static boolean isOfExtendedResource(String json) {
        return !json.isEmpty() && tree(json).at(EXTENDED_RESOURCE).asText().equals("true");
    }

    private static JsonNode tree(String json) {
        try {
            return new JsonMapper().readTree(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("The API server's claim is no JSON", e);
        }
    }
}
