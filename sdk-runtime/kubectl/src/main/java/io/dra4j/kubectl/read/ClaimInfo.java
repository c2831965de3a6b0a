// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.model.Claim;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A claim and its users.
 *
 * @param claim as the allocator sees it
 * @param podsByUid the names of the pods that it is reserved for
 * @param grouped whether it is reserved for a group of pods
 * @param owner what it was made for, such as {@code pod train}; empty if it was created by hand
 * @param since when it was allocated, or else created; empty if the server does not say
 */
public record ClaimInfo(Claim claim, Map<String, String> podsByUid, boolean grouped, String owner, String since) {

    public ClaimInfo {
        podsByUid = Collections.unmodifiableMap(podsByUid);
    }

    static ClaimInfo of(JsonNode json) {
        Map<String, String> pods = new LinkedHashMap<>();
        boolean grouped = false;
        for (JsonNode user : json.at("/status/reservedFor")) {
            if (user.path("resource").asText().equals("pods")) {
                pods.put(user.path("uid").asText(), user.path("name").asText());
            } else {
                grouped = true;
            }
        }
        String allocated = json.at("/status/allocation/allocationTimestamp").asText();
        String created = json.at("/metadata/creationTimestamp").asText();
        return new ClaimInfo(Claim.of(json), pods, grouped, owner(json), allocated.isEmpty() ? created : allocated);
    }

    public List<String> pods() {
        return List.copyOf(podsByUid.values());
    }

    private static String owner(JsonNode json) {
        JsonNode owner = json.at("/metadata/ownerReferences/0");
        return owner.isMissingNode()
                ? ""
                : owner.path("kind").asText().toLowerCase(Locale.ROOT)
                        + " "
                        + owner.path("name").asText();
    }
}
