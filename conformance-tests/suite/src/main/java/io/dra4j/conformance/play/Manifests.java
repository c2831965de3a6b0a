// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.standalone.ManifestObjects;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.nio.file.Path;
import java.util.List;

/** Brings the manifests of a folder into the cluster, and finds the pods among them. */
final class Manifests {

    private final EmbeddedApiServer api;

    private Manifests(EmbeddedApiServer api) {
        this.api = api;
    }

    /** Applies the manifests in the order of their names, and returns their pods. */
    static List<PlayedPod> apply(Path folder, EmbeddedApiServer api) {
        List<JsonNode> applied = ManifestObjects.put(List.of(folder.toString()), api.store());
        Manifests manifests = new Manifests(api);
        List<PlayedPod> pods =
                applied.stream()
                        .filter(object -> object.path("kind").asText().equals("Pod"))
                        .map(pod -> PlayedPod.of(pod, manifests::claim))
                        .toList();
        StepFailed.unless(!pods.isEmpty(), "no manifest in " + folder + " has a Pod");
        return pods;
    }

    private JsonNode claim(String namespace, String name) {
        return api.store()
                .find("resourceclaims", namespace, name)
                .orElseThrow(
                        () ->
                                new StepFailed(
                                        "no manifest has the claim " + namespace + "/" + name));
    }
}
