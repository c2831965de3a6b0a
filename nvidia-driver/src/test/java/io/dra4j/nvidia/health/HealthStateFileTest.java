// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.nvidia.health.DeviceFaults.Error;
import io.dra4j.nvidia.health.HealthStateFile.Remembered;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Placement;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is known of GPUs outlives the process, and not the boot. */
class HealthStateFileTest {

    private static final Map<String, List<Error>> ERRORS =
            Map.of("GPU-1", List.of(new Error(79, null, 1), new Error(95, new Placement(4, 4), 2)));

    @TempDir private Path folder;

    private StandInNode node;
    private Path file;
    private List<Gpu> gpus;

    @BeforeEach
    void read() {
        node = StandInNode.install(folder, "a100-40-divided");
        file = folder.resolve("gpus.json");
        try (Nvml nvml = Nvml.open(node.library())) {
            gpus = nvml.read().gpus();
        }
    }

    private HealthStateFile memory() {
        return new HealthStateFile(file, node.proc());
    }

    @Test
    void isTheSameAfterwards() throws IOException {
        memory().remember(gpus, ERRORS);

        Remembered recalled = memory().recall();

        assertThat(recalled.gpus()).isEqualTo(gpus);
        assertThat(recalled.errors()).isEqualTo(ERRORS);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
    }

    @Test
    void isForgottenWithTheBoot() throws IOException {
        memory().remember(gpus, ERRORS);
        Files.writeString(node.proc().resolve("sys/kernel/random/boot_id"), "another\n");

        assertThat(memory().recall()).isEqualTo(Remembered.NOTHING);
    }

    @Test
    void isNothingAtFirst() {
        assertThat(memory().recall()).isEqualTo(Remembered.NOTHING);
    }

    @Test
    void isNothingIfTheFileIsDamaged() throws IOException {
        memory().remember(gpus, ERRORS);
        byte[] good = Files.readAllBytes(file);
        Random random = new Random(1);
        for (int round = 0; round < 500; round++) {
            byte[] bad = Arrays.copyOf(good, 1 + random.nextInt(good.length));
            for (int i = 0; i < 5; i++) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt(256);
            }
            Files.write(file, bad);

            assertThat(memory().recall()).isNotNull(); // and nothing is thrown
        }
        Files.write(file, Arrays.copyOf(good, good.length / 2));
        assertThat(memory().recall()).isEqualTo(Remembered.NOTHING);
    }
}
