// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo's manifests, as an API server with its rules takes them. */
class DemoManifestsIT {

    private final EmbeddedApiServer api = EmbeddedApiServer.builder().node("demo-node").start();

    @AfterEach
    void stop() {
        api.close();
    }

    @Test
    void areAcceptedWithTheirAllocations() {
        List<PlayedPod> pods = Manifests.apply(Path.of("../../example-fake-driver/demo"), api);

        assertThat(pods)
                .extracting(PlayedPod::name)
                .containsExactly(
                        "shared",
                        "config-from-class",
                        "config-from-claim",
                        "prioritized-list",
                        "several-claims",
                        "two-drivers");
        assertThat(pods.stream().flatMap(pod -> pod.claims().values().stream()))
                .flatExtracting(claim -> claim.allocatedDevices("gpu.example.com"))
                .containsExactlyInAnyOrder(
                        "demo-node/gpu-0",
                        "demo-node/gpu-1",
                        "demo-node/gpu-2",
                        "demo-node/gpu-3",
                        "demo-node/gpu-4",
                        "demo-node/gpu-5",
                        "demo-node/gpu-6",
                        "demo-node/gpu-7");
        assertThat(pods.stream().flatMap(pod -> pod.claims().values().stream()))
                .flatExtracting(claim -> claim.allocatedDevices("net.example.com"))
                .containsExactly("demo-node/nic-5");
    }

    @Test
    void sayWhichContainerUsesWhichRequest() {
        PlayedPod pod = Manifests.apply(Path.of("../../example-fake-driver/demo"), api).get(4);

        assertThat(pod.containers())
                .extracting(container -> container.uses().toString())
                .containsExactly("[a, b]", "[b/right]");
    }

    @Test
    void mustHaveThePodsClaims(@TempDir Path folder) throws IOException {
        Files.writeString(
                folder.resolve("pod.yaml"),
                """
                apiVersion: v1
                kind: Pod
                metadata: {name: lonely}
                spec:
                  containers: [{name: c, image: i}]
                  resourceClaims: [{name: gpu, resourceClaimName: nowhere}]
                """);

        assertThatThrownBy(() -> Manifests.apply(folder, api))
                .hasMessage("no manifest has the claim default/nowhere");
    }

    @Test
    void mustBeThere(@TempDir Path folder) {
        assertThatThrownBy(() -> Manifests.apply(folder, api))
                .hasMessageStartingWith("--manifests: there is no object in " + folder);
        assertThatThrownBy(() -> Manifests.apply(folder.resolve("no"), api))
                .hasMessageStartingWith("--manifests: there is no file " + folder);
    }
}
