// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.claim.ClaimRef;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * Reads claims from the API server, again and again while that fails in passing.
 *
 * <p>How long is measured on the monotonic clock. Thread-safe.
 */
final class ClusterClaims {

    private static final String DRA_API = "apis/resource.k8s.io/v1/";
    private static final int PAGE = 500;
    private static final InstantSource MONOTONIC = () -> Instant.EPOCH.plusNanos(System.nanoTime());

    private final ApiCalls calls;
    private final TransientRetry retry =
            new TransientRetry(
                    MONOTONIC,
                    pause -> Thread.sleep(pause.toMillis()),
                    RandomGenerator.getDefault());

    ClusterClaims(ApiCalls calls) {
        this.calls = calls;
    }

    ClaimObject read(ClaimRef ref, Duration limit) {
        // Both names are checked by ClaimRef: neither holds a character that a URL would take.
        String json;
        try {
            json = get(KubernetesClaimStatuses.path(ref), MONOTONIC.instant().plus(limit));
        } catch (ClusterException.NotFound e) {
            throw e.isOfTheObject() ? gone(ref) : e;
        }
        return understood("no ResourceClaim", json, ClaimCodec::decode);
    }

    private static ClusterException gone(ClaimRef ref) {
        return new ClusterException.NotFound(
                "ResourceClaim %s/%s with UID %s does not exist any more; a pod that still waits for it has to be made again"
                        .formatted(ref.namespace(), ref.name(), ref.uid()),
                true);
    }

    Map<ClaimRef, ClaimObject> readAll(Duration limit) {
        Instant deadline = MONOTONIC.instant().plus(limit);
        Map<ClaimRef, ClaimObject> claims = new LinkedHashMap<>();
        String next = "";
        do {
            String path = DRA_API + "resourceclaims?limit=" + PAGE;
            String json = get(next.isEmpty() ? path : path + "&continue=" + next, deadline);
            JsonNode list = understood("no list of ResourceClaims", json, Json::parse);
            for (JsonNode item : list.path("items")) {
                JsonNode metadata = item.path("metadata");
                claims.put(
                        understood("no list of ResourceClaims", metadata, ClusterClaims::ref),
                        understood("no ResourceClaim", item.toString(), ClaimCodec::decode));
            }
            next =
                    URLEncoder.encode(
                            list.path("metadata").path("continue").asText(""),
                            StandardCharsets.UTF_8);
        } while (!next.isEmpty());
        return claims;
    }

    private static ClaimRef ref(JsonNode metadata) {
        return new ClaimRef(
                metadata.path("namespace").asText(),
                metadata.path("name").asText(),
                metadata.path("uid").asText());
    }

    private String get(String path, Instant deadline) {
        return retry.until(deadline, limit -> calls.read(path, limit));
    }

    private static <A, T> T understood(String otherwise, A answer, Function<A, T> read) {
        try {
            return read.apply(answer);
        } catch (IllegalArgumentException e) {
            throw new ClusterException(
                    "The API server's answer is " + otherwise + ": " + e.getMessage(), 200, null);
        }
    }
}
