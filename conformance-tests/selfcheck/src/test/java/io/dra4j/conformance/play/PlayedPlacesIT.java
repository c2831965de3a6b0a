// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.selfcheck.FakeProgram;
import io.dra4j.testkit.driver.MountNamespace;
import io.dra4j.testkit.driver.ProcessSettings;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Plays drivers that find their directories and the API server as in a pod of a cluster. */
@Tag("nightly")
class PlayedPlacesIT {

    private static final Path MANIFESTS = Path.of("../../example-fake-driver/demo");

    private final ByteArrayOutputStream output = new ByteArrayOutputStream();

    /** The fake driver as an image would start it, with all paths as on a node. */
    private static PlaySettings.Driver hardWired(String name, String profile) {
        List<String> command = new ArrayList<>(FakeProgram.command());
        command.addAll(List.of(
                "--device-profile=" + profile,
                "--num-devices=12",
                "--cdi-root=/var/run/cdi",
                "--kubelet-plugins-directory-path=/var/lib/kubelet/plugins",
                "--kubelet-registrar-directory-path=/var/lib/kubelet/plugins_registry"));
        return new PlaySettings.Driver(name, new ProcessSettings(command, Map.of(), true, true, List.of()));
    }

    private boolean run(PlaySettings.Driver... drivers) {
        PlaySettings settings = new PlaySettings(List.of(drivers), "demo-node", MANIFESTS, Duration.ofSeconds(60));
        try (Play play = new Play(settings, new PrintStream(output, true, UTF_8))) {
            return play.run();
        }
    }

    @Test
    void standardPathsAndTheServiceAccountOfAPodAreTheirs() {
        String missing = MountNamespace.missing();
        assumeTrue(missing.isEmpty(), "no mount namespace can be made here: " + missing);

        boolean held = run(hardWired("gpu.example.com", "gpu"), hardWired("net.example.com", "net"));

        assertThat(held).as(output.toString(UTF_8)).isTrue();
        assertThat(output.toString(UTF_8))
                .contains("env    GPU_DEVICE_9=gpu-9", "no CDI spec is left")
                .endsWith("steps passed.\n");
    }
}
