// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.nio.file.Path;
import java.util.List;

/** Brings the manifests of a folder into the cluster, and finds the pods among them. */
final class Manifests {

    private Manifests() {}

    /** Applies the manifests in the order of their names, and returns their pods. */
    static List<PlayedPod> apply(Path folder, EmbeddedApiServer api) {
        List<PlayedPod> pods = ManifestObjects.put(List.of(folder.toString()), api.store()).stream()
                .filter(object -> object.path("kind").asText().equals("Pod"))
                .map(PlayedPod::new)
                .toList();
        StepFailed.unless(!pods.isEmpty(), "no manifest in " + folder + " has a Pod");
        return pods;
    }
}
