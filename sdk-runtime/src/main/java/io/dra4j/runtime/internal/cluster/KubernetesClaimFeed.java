// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The claims in the cluster: requests and watches through {@link ApiCalls}. */
final class KubernetesClaimFeed implements ClaimFeed {

    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final String PATH = "apis/resource.k8s.io/v1/resourceclaims";

    private final ApiCalls calls;

    KubernetesClaimFeed(ApiCalls calls) {
        this.calls = calls;
    }

    @Override
    public Snapshot list() {
        JsonNode list = Json.parse(calls.read(PATH, LIMIT));
        return new Snapshot(
                Json.list(list.path("items"), JsonNode::toString),
                list.path("metadata").path("resourceVersion").asText());
    }

    @Override
    public Watch watch(String resourceVersion, Listener listener) {
        ApiWatch watch = new ApiWatch(new ClaimEvents(listener));
        String version = URLEncoder.encode(resourceVersion, StandardCharsets.UTF_8);
        watch.begin(
                calls.stream(PATH + "?watch=true&resourceVersion=" + version, watch::take, LIMIT));
        return watch;
    }

    private record ClaimEvents(Listener listener) implements ApiWatch.Events {

        @Override
        public void changed(JsonNode claim) {
            listener.changed(claim.toString());
        }

        @Override
        public void deleted(JsonNode claim) {
            listener.deleted(claim.toString());
        }

        @Override
        public void ended(String reason) {
            listener.ended(reason);
        }
    }
}
