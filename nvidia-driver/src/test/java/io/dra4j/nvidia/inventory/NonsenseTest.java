// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Any values of NVML lead to devices, or to an error with the reason. */
class NonsenseTest {

    @TempDir private Path folder;

    private StandInNode node;

    @BeforeEach
    void install() {
        node = StandInNode.install(folder, "h100-80");
    }

    private NodeDevices devices(Nvml nvml) {
        Reading reading = nvml.read();
        return NodeDevices.of(reading, new NodeDevices.Settings("node-1", node.sysfs(), true));
    }

    @Test
    void isAnErrorOrLeftOut() {
        Random random = new Random(1);
        int refused = 0;
        for (int round = 0; round < 300; round++) {
            byte[] text = new byte[1 + random.nextInt(30)];
            random.nextBytes(text);
            node.state().scramble(random.nextInt(9) - 1, text);
            try (Nvml nvml = Nvml.open(node.library())) {
                devices(nvml);
            } catch (DraException e) {
                assertThat(e).hasMessageContaining("NVML");
                refused++;
            }
        }
        assertThat(refused).isPositive();
    }

    @Test
    void leavesOutAGpuWithoutAnAddress() {
        node.state().scramble(3, "nowhere".getBytes(StandardCharsets.UTF_8));

        try (Nvml nvml = Nvml.open(node.library())) {
            NodeDevices devices = devices(nvml);

            assertThat(devices.problems())
                    .containsExactly("GPU 3 is left out: Not a PCI address of NVML: \"nowhere\"");
            assertThat(devices.inventory().pools().get(0).counterSets()).hasSize(7);
        }
    }

    @Test
    void takesNoKnownGpuAway() {
        try (Nvml nvml = Nvml.open(node.library())) {
            NodeDevices before = devices(nvml);
            node.state().scramble(3, "nowhere".getBytes(StandardCharsets.UTF_8));

            NodeDevices after = devices(nvml);

            assertThat(after.inventory()).isEqualTo(before.inventory());
            assertThat(after.problems())
                    .containsExactly(
                            node.state().uuid(3)
                                    + " can't be read, and is kept as last read: Not a PCI address of NVML: \"nowhere\"");
        }
    }

    @Test
    void rejectsAnInvalidDriverVersion() {
        node.state().scramble(-1, "latest".getBytes(StandardCharsets.UTF_8));

        try (Nvml nvml = Nvml.open(node.library())) {
            assertThatThrownBy(() -> devices(nvml))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("NVML returned an invalid value", "latest");
        }
    }
}
