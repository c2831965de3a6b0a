// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlProblem;
import io.dra4j.nvidia.nvml.NvmlProblem.Cost;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Any values of NVML lead to devices, or to an error with the reason. */
@Tag("slow")
class NonsenseTest {

    private static final String NO_ADDRESS = "nvmlDeviceGetPciInfo_v3 returned an invalid value: \"nowhere\"";

    private static final List<String> NUMBERS = List.of("""
            minor architecture major minorCapability brand addressing fabricState cliqueId virtualization
            nvlinks profile.index profile.id profile.slices profile.count profile.multiprocessors
            profile.copyEngines profile.placements profile.size profile.starts profile.memoryMiB
            """.split("\\s+"));

    @TempDir
    private Path folder;

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
        int reported = 0;
        for (int round = 0; round < 300; round++) {
            byte[] text = new byte[1 + random.nextInt(30)];
            random.nextBytes(text);
            node.state().scramble(random.nextInt(9) - 1, text);
            try (Nvml nvml = Nvml.open(node.library())) {
                reported += devices(nvml).notes().isEmpty() ? 0 : 1;
            } catch (DraException e) {
                assertThat(e).hasMessageContaining("NVML");
                reported++;
            }
        }
        assertThat(reported).isPositive();
    }

    @Test
    void costsTheGpuItIsAboutAndNoOther() {
        Random random = new Random(2);
        int[] numbers = {0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 9, 63, 65, 4096};
        NodeState state = node.state();
        NodeDevices before = Boards.devices(node, true);
        for (String field : NUMBERS) {
            for (int number : numbers) {
                int gpu = 1 + random.nextInt(7);
                int known = field.startsWith("profile.")
                        ? state.setOfProfile(gpu, field.substring(8), number)
                        : state.set(gpu, field, number);

                NodeDevices after = Boards.devices(node, true);

                assertThat(others(after, gpu)).as("%s %d", field, number).isEqualTo(others(before, gpu));
                if (field.startsWith("profile.")) {
                    state.setOfProfile(gpu, field.substring(8), known);
                } else {
                    state.set(gpu, field, known);
                }
            }
        }
    }

    private static int minor(Offer offer) {
        return ((Offer.OfNvml) offer).gpu().minor();
    }

    private static List<Device> others(NodeDevices devices, int gpu) {
        return devices.inventory().pools().get(0).devices().stream()
                .filter(device -> minor(devices.offer(device.name()).orElseThrow()) != gpu)
                .filter(device -> device.name().value().matches("gpu-[0-7](-.*)?"))
                .toList();
    }

    @Test
    void leavesOutANameWithoutEnd() {
        byte[] name = "x".repeat(95).getBytes(StandardCharsets.UTF_8);
        node.state().rename(3, name);

        NodeDevices devices = Boards.devices(node, false);

        assertThat(devices.inventory().leftOut()).isEmpty();
        assertThat(devices.notes())
                .singleElement()
                .satisfies(note -> assertThat(note.reason()).contains("nvmlDeviceGetName"));
    }

    @Test
    void leavesOutAGpuWithoutAnAddress() {
        node.state().scramble(3, "nowhere".getBytes(StandardCharsets.UTF_8));

        try (Nvml nvml = Nvml.open(node.library())) {
            NodeDevices devices = devices(nvml);

            assertThat(devices.inventory().leftOut())
                    .containsExactly(new LeftOut(node.state().uuid(3), NO_ADDRESS));
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
            String gpu = node.state().uuid(3);
            assertThat(after.notes())
                    .containsExactly(new NvmlProblem(gpu, Cost.NONE, gpu, NO_ADDRESS + "; as last read"));
        }
    }

    @ParameterizedTest
    @CsvSource({"580.159.04.1, 580.159.4+1", "550, 550.0.0", "latest,", "v, "})
    void leavesAnInvalidDriverVersionOutAndNoGpu(String version, @Nullable String published) {
        Inventory before = Boards.devices(node, true).inventory();
        node.state().scramble(-1, version.getBytes(StandardCharsets.UTF_8));

        NodeDevices after = Boards.devices(node, true);

        assertThat(names(after.inventory())).isEqualTo(names(before)).isNotEmpty();
        assertThat(after.inventory().pools().get(0).devices())
                .allSatisfy(device -> assertThat(device.attributes().get("driverVersion"))
                        .isEqualTo(published == null ? null : AttributeValue.version(published)));
        assertThat(after.notes())
                .hasSize(published == null ? 1 : 0)
                .allSatisfy(note -> assertThat(note.reason())
                        .contains("\"" + version + "\"", "the attribute driverVersion is left out"));
    }

    private static List<DeviceName> names(Inventory inventory) {
        return inventory.pools().get(0).devices().stream().map(Device::name).toList();
    }
}
