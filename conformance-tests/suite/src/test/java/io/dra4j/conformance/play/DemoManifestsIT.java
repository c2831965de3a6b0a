// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.conformance.play.Script.Manifests;
import io.dra4j.conformance.play.Script.PlayedPod;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo's manifests, applied to an API server with its rules. */
class DemoManifestsIT {

    @AutoClose
    private final EmbeddedApiServer api =
            EmbeddedApiServer.builder().node("demo-node").start();

    @Test
    void areAccepted() {
        List<PlayedPod> pods = Manifests.apply(Path.of("../../example-fake-driver/demo"), api);

        assertThat(pods)
                .extracting(PlayedPod::name)
                .containsExactly(
                        "shared",
                        "one-of-two",
                        "other-of-two",
                        "init-container",
                        "config-from-class",
                        "config-from-claim",
                        "prioritized-list",
                        "several-claims",
                        "two-drivers",
                        "monitor",
                        "extended-resource");
    }

    @Test
    void mustBeThere(@TempDir Path folder) {
        assertThatThrownBy(() -> Manifests.apply(folder, api))
                .hasMessageStartingWith("--manifests: no object in " + folder);
        assertThatThrownBy(() -> Manifests.apply(folder.resolve("no"), api))
                .hasMessageStartingWith("--manifests: no such file: " + folder);
    }
}
