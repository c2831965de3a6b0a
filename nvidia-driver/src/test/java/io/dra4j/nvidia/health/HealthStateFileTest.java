// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Taint.Effect;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.nvidia.health.HealthStateFile.State;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.InstancePlacement;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The state of GPUs outlives the process, but not the boot. */
class HealthStateFileTest {

    private static final Map<String, List<XidError>> ERRORS = Map.of(
            "GPU-1",
            List.of(
                    new XidError(79, null, 1, Effect.NO_EXECUTE, true),
                    new XidError(95, new InstancePlacement(4, 4), 2, Effect.NONE, false)));

    private static final Map<String, Set<DeviceMeasure>> EXCEEDED =
            Map.of("GPU-2", Set.of(DeviceMeasure.POWER, DeviceMeasure.TEMPERATURE));

    @TempDir
    private Path folder;

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

    private HealthStateFile stateFile() {
        return new HealthStateFile(file, node.proc());
    }

    @Test
    void isReadAsWritten() throws IOException {
        Path ofKilledWrite = Files.createFile(folder.resolve(".gpus.json.new"));
        stateFile().write(gpus, ERRORS, EXCEEDED, Set.of("p/1"));

        State found = stateFile().read();

        assertThat(found.gpus()).isEqualTo(gpus);
        assertThat(found.errors()).isEqualTo(ERRORS);
        assertThat(found.exceeded()).isEqualTo(EXCEEDED);
        assertThat(found.ended()).containsExactly("p/1");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(ofKilledWrite).doesNotExist();
    }

    @Test
    void isReadAsAnEarlierDriverWroteIt() throws IOException {
        String boot = Files.readString(node.proc().resolve("sys/kernel/random/boot_id"))
                .strip();
        Files.writeString(file, """
                {"boot": "%s", "gpus": [], "ended": [], "errors": {"GPU-1": [
                  {"xid": 79, "where": null, "sinceMillis": 1, "harmless": false},
                  {"xid": 95, "where": {"start": 4, "size": 4}, "sinceMillis": 2, "harmless": true}]}}
                """.formatted(boot));

        State found = stateFile().read();

        assertThat(found.form()).isEqualTo(1);
        assertThat(found.errors())
                .isEqualTo(Map.of(
                        "GPU-1",
                        List.of(
                                new XidError(79, null, 1, Effect.NO_SCHEDULE, true),
                                new XidError(95, new InstancePlacement(4, 4), 2, Effect.NONE, false))));
    }

    @Test
    void isReadAsALaterDriverWroteIt() throws IOException {
        stateFile().write(gpus, ERRORS, EXCEEDED, Set.of("p/1"));
        String later = Files.readString(file).replace("AMPERE", "FEYNMAN");
        Files.writeString(file, later.replace("NO_EXECUTE", "NO_PODS").replace("POWER", "NOISE"));

        State found = stateFile().read();

        assertThat(found.gpus()).hasSameSizeAs(gpus);
        assertThat(found.errors().get("GPU-1")).first().isEqualTo(new XidError(79, null, 1, Effect.NO_SCHEDULE, true));
        assertThat(found.ended()).containsExactly("p/1");
        assertThat(found.exceeded()).isEqualTo(Map.of("GPU-2", Set.of(DeviceMeasure.TEMPERATURE)));
    }

    @Test
    void isEmptyIfTheFileIsDamaged() throws IOException {
        stateFile().write(gpus, ERRORS, EXCEEDED, Set.of("p/1"));
        byte[] good = Files.readAllBytes(file);
        Random random = new Random(1);
        for (int round = 0; round < 500; round++) {
            byte[] bad = Arrays.copyOf(good, 1 + random.nextInt(good.length));
            for (int i = 0; i < 5; i++) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt(256);
            }
            Files.write(file, bad);

            assertThat(stateFile().read()).isNotNull(); // and nothing is thrown
        }
        Files.write(file, Arrays.copyOf(good, good.length / 2));
        assertThat(stateFile().read()).isEqualTo(State.NONE);
    }
}
