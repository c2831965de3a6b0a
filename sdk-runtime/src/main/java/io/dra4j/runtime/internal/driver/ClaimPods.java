// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ClaimReader;
import io.dra4j.runtime.internal.cluster.Cluster;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.Meters;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The pods for which claims are reserved, as the API server has them, if it can be asked.
 *
 * @param pods by claim, in words
 * @param problem why some are unknown; empty if none is
 */
record ClaimPods(Map<ClaimRef, String> pods, String problem) {

    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final String NODE = "node"; // of no use here: claims have none

    /** Asks for the pods of claims. */
    static ClaimPods of(List<HeldClaim> claims, @Nullable Path kubeconfig, String driverName) {
        Map<ClaimRef, String> pods = new HashMap<>();
        if (!claims.isEmpty()) {
            try (Meters meters = Meters.global(driverName, NODE);
                    Cluster cluster = Cluster.connect(kubeconfig, driverName, NODE, meters)) {
                for (HeldClaim claim : claims) {
                    pods.put(claim.ref(), pods(cluster.claimReader(), claim.ref()));
                }
            } catch (DraException e) {
                String why = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
                return new ClaimPods(pods, why);
            }
        }
        return new ClaimPods(pods, "");
    }

    /** The pods of a claim, in words. */
    String of(ClaimRef claim) {
        return pods.getOrDefault(claim, "pods unknown");
    }

    private static String pods(ClaimReader reader, ClaimRef claim) {
        try {
            JsonNode object =
                    new JsonMapper().readTree(reader.read(claim, LIMIT).json());
            String names = object.at("/status/reservedFor").findValuesAsText("name").stream()
                    .collect(Collectors.joining(", "));
            return names.isEmpty() ? "reserved for no pod" : "pod " + names;
        } catch (ClusterException.NotFound e) {
            return "its object is deleted";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("The API server's claim is no JSON", e);
        }
    }
}
