// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.allocator.model.Claim;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A claim and its users.
 *
 * @param claim as the allocator sees it
 * @param pods the names of the pods that it is reserved for
 * @param grouped whether it is reserved for a group of pods
 * @param owner what it was made for, such as {@code pod train}; empty if it was created by hand
 * @param since when it was allocated, or else created; empty if the server does not say
 */
public record ClaimInfo(Claim claim, List<String> pods, boolean grouped, String owner, String since) {

    static ClaimInfo of(JsonNode json) {
        List<String> pods = new ArrayList<>(1);
        boolean grouped = false;
        for (JsonNode user : json.at("/status/reservedFor")) {
            if (user.path("resource").asText().equals("pods")) {
                pods.add(user.path("name").asText());
            } else {
                grouped = true;
            }
        }
        String allocated = json.at("/status/allocation/allocationTimestamp").asText();
        String created = json.at("/metadata/creationTimestamp").asText();
        return new ClaimInfo(
                Claim.of(json), List.copyOf(pods), grouped, owner(json), allocated.isEmpty() ? created : allocated);
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
