// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.play.Play;
import io.dra4j.conformance.play.PlaySettings;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code dra-conformance play} of the demos that need options of the driver, to running pods. */
@Tag("nightly")
@Execution(ExecutionMode.CONCURRENT)
class PlayedDemosIT {

    private static final Path DEMOS = Path.of("../../example-fake-driver/demos");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "partitions, --gpu-partitions=4",
        "shares, --gpu-allow-multiple-allocations",
        "binding-conditions, --binding-conditions",
        "taints, --fault-file=FAULTS",
        "metadata, --gpu-device-metadata",
    })
    void runsToTheEnd(String demo, String option) throws Exception {
        Path faults = folder.resolve("faults");
        Files.writeString(faults, "gpu-0 NoSchedule ecc-error\n");
        List<String> command = new ArrayList<>(FakeProgram.command());
        command.add(option.replace("FAULTS", faults.toString()));
        PlaySettings settings = new PlaySettings(
                List.of(new PlaySettings.Driver(FakeProgram.DRIVER, command)),
                "demo-node",
                DEMOS.resolve(demo),
                Duration.ofMinutes(3));
        ByteArrayOutputStream out = new ByteArrayOutputStream();

        try (Play play = new Play(settings, new PrintStream(out, true, UTF_8))) {
            assertThat(play.run()).as(out.toString(UTF_8)).isTrue();
        }
        assertThat(out.toString(UTF_8)).contains("steps passed");
    }
}
