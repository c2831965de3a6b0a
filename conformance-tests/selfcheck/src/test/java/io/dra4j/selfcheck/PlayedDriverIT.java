// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.play.Play;
import io.dra4j.conformance.play.PlaySettings;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code dra-conformance play} with a driver that it cannot play. */
@Tag("gate")
class PlayedDriverIT {

    @Test
    void aDriverThatPublishesNothingFailsWithWhatItRequested() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        List<String> silent = new ArrayList<>(BareProgram.command());
        silent.addAll(List.of("--variant", "H-19"));
        PlaySettings settings = new PlaySettings(
                List.of(new PlaySettings.Driver("gpu.example.com", silent)),
                "demo-node",
                Path.of("../../example-fake-driver/demo"),
                Duration.ofSeconds(30));

        try (Play play = new Play(settings, new PrintStream(out, true, UTF_8))) {
            assertThat(play.run()).isFalse();
        }

        assertThat(out.toString(UTF_8))
                .contains("FAILED in step")
                .contains("gpu.example.com published no ResourceSlice within 30 s; ");
    }
}
