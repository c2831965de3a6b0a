// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * A pod and its claims.
 *
 * @param node where it is placed; empty if it is not
 * @param ended whether all its containers have ended and will not restart
 * @param claims the names of its claims, in its namespace
 */
public record PodInfo(String namespace, String name, String uid, String node, boolean ended, List<String> claims) {

    public PodInfo {
        claims = List.copyOf(claims);
    }

    static PodInfo of(JsonNode json) {
        List<String> claims = new ArrayList<>(1);
        json.at("/spec/resourceClaims")
                .forEach(one -> add(one.path("resourceClaimName").asText(), claims));
        json.at("/status/resourceClaimStatuses")
                .forEach(one -> add(one.path("resourceClaimName").asText(), claims));
        add(json.at("/status/extendedResourceClaimStatus/resourceClaimName").asText(), claims);
        String phase = json.at("/status/phase").asText();
        return new PodInfo(
                json.at("/metadata/namespace").asText(),
                json.at("/metadata/name").asText(),
                json.at("/metadata/uid").asText(),
                json.at("/spec/nodeName").asText(),
                phase.equals("Succeeded") || phase.equals("Failed"),
                claims);
    }

    private static void add(String claim, List<String> claims) {
        if (!claim.isEmpty() && !claims.contains(claim)) {
            claims.add(claim);
        }
    }

    /** The form in Kubernetes' messages. */
    public String fullName() {
        return namespace + "/" + name;
    }
}
