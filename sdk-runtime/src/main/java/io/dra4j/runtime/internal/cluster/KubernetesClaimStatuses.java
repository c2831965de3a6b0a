// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ClaimRef;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** The statuses in the cluster: requests through {@link ApiCalls}. */
final class KubernetesClaimStatuses implements ClaimStatuses {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final ApiCalls calls;

    KubernetesClaimStatuses(ApiCalls calls) {
        this.calls = calls;
    }

    @Override
    public void apply(ClaimRef claim, String fieldManager, List<String> devices) {
        ObjectNode body =
                Json.object().put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceClaim");
        // The UID keeps the report of a claim from another one that bears its name by now.
        body.putObject("metadata")
                .put("name", claim.name())
                .put("namespace", claim.namespace())
                .put("uid", claim.uid());
        Json.putList(body.putObject("status"), "devices", devices, Json::parse);
        if (devices.isEmpty()) {
            body.remove("status");
        }
        String manager = URLEncoder.encode(fieldManager, StandardCharsets.UTF_8);
        calls.apply(path(claim) + "/status?force=true&fieldManager=" + manager, body, LIMIT);
    }

    @Override
    public boolean exists(ClaimRef claim) {
        try {
            return ClaimCodec.decode(calls.read(path(claim), LIMIT)).uid().equals(claim.uid());
        } catch (ClusterException.NotFound e) {
            return false;
        }
    }

    /** Both names are checked by ClaimRef: neither holds a character that a URL would take. */
    static String path(ClaimRef claim) {
        return "apis/resource.k8s.io/v1/namespaces/"
                + claim.namespace()
                + "/resourceclaims/"
                + claim.name();
    }
}
