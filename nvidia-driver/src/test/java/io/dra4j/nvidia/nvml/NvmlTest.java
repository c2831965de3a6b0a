// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.nvidia.nvml.NvmlEvents.Event;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** NVML as the driver sees it, against the stand-in. */
class NvmlTest {

    @TempDir private Path folder;

    private StandInNode node(String boards) {
        return StandInNode.install(folder, boards);
    }

    private static Reason reason(Throwable thrown) {
        return ((NvmlException) thrown).reason();
    }

    @Nested
    class Opening {

        @Test
        void failsIfTheFileIsNoLibrary() throws Exception {
            Path file = Files.writeString(folder.resolve("libnvidia-ml.so.1"), "not ELF");

            assertThatThrownBy(() -> Nvml.open(file))
                    .hasMessageContaining("Can't load " + file)
                    .extracting(NvmlTest::reason)
                    .isEqualTo(Reason.NO_DRIVER);
        }

        @Test
        void failsIfTheKernelHasNoDriver() {
            StandInNode node = node("t4");
            node.state().loaded(false);

            assertThatThrownBy(() -> Nvml.open(node.library()))
                    .hasMessageContaining("Driver Not Loaded (9)")
                    .hasMessageContaining("load the driver's kernel module")
                    .extracting(NvmlTest::reason)
                    .isEqualTo(Reason.NO_DRIVER);
        }

        @Test
        void failsIfTheDriverFails() {
            StandInNode node = node("t4");
            node.state().initFails(999);

            assertThatThrownBy(() -> Nvml.open(node.library()))
                    .hasMessageContaining("Unknown Error (999)")
                    .extracting(NvmlTest::reason)
                    .isEqualTo(Reason.FAILING);
        }

        @Test
        void isNoErrorWithoutGpus() throws Exception {
            StandInNode node = node("t4");
            Files.delete(Path.of(node.library() + ".state"));
            node.boards("node driver=550.163.01 cuda=12040\n");
            Path copy = Files.copy(node.library(), folder.resolve("libnvidia-ml.so.1"));
            Files.copy(Path.of(node.library() + ".boards"), Path.of(copy + ".boards"));

            try (Nvml nvml = Nvml.open(copy)) {
                assertThat(nvml.read().gpus()).isEmpty();
                assertThat(nvml.read().driverVersion()).isEqualTo("550.163.01");
                assertThat(nvml.read().cudaVersion()).isEqualTo("12.4");
            }
        }
    }

    @Nested
    class Reading {

        @Test
        void describesAGpu() {
            try (Nvml nvml = Nvml.open(node("h100-80").library())) {
                Gpu gpu = nvml.read().gpus().get(3);

                assertThat(gpu.uuid()).isEqualTo("GPU-d7a40003-0000-4000-8000-000000000003");
                assertThat(gpu.pci().text()).isEqualTo("0000:47:00.0");
                assertThat(gpu.minor()).isEqualTo(3);
                assertThat(gpu.productName()).isEqualTo("NVIDIA H100 80GB HBM3");
                assertThat(gpu.brand()).isEqualTo("Nvidia");
                assertThat(gpu.architecture()).isEqualTo(Architecture.HOPPER);
                assertThat(gpu.computeCapability()).isEqualTo("9.0");
                assertThat(gpu.memory()).isEqualTo(81559L << 20);
                assertThat(gpu.addressingMode()).isEqualTo("None");
                assertThat(gpu.fabric()).isNull();
                assertThat(gpu.links()).isEmpty();
                assertThat(gpu.mig()).isNotNull();
                assertThat(gpu.mig().enabled()).isFalse();
                assertThat(gpu.mig().profiles()).hasSize(7);
            }
        }

        @Test
        void knowsNoAddressingModeOfAnOlderDriver() {
            StandInNode node = StandInNode.installOlder(folder, "h100-80");

            try (Nvml nvml = Nvml.open(node.library())) {
                assertThat(nvml.read().gpus())
                        .hasSize(8)
                        .allSatisfy(gpu -> assertThat(gpu.addressingMode()).isNull());
            }
        }

        @Test
        void knowsThatMemoryIsShared() {
            StandInNode node = node("t4");
            node.state().sharesMemory(0);

            try (Nvml nvml = Nvml.open(node.library())) {
                assertThat(nvml.read().gpus().get(0).memory()).isNull();
            }
        }

        @Test
        void keepsALostGpuAsItWas() {
            StandInNode node = node("l40s");
            try (Nvml nvml = Nvml.open(node.library())) {
                var before = nvml.read();

                node.state().lost(2, true);
                var after = nvml.read();

                assertThat(after.gpus()).isEqualTo(before.gpus());
                assertThat(after.lost()).containsExactly(before.gpus().get(2).uuid());
                node.state().lost(2, false);
                assertThat(nvml.read()).isEqualTo(before);
            }
        }

        @Test
        void leavesOutAGpuThatItNeverSaw() {
            StandInNode node = node("l40s");
            node.state().lost(1, true);

            try (Nvml nvml = Nvml.open(node.library())) {
                var reading = nvml.read();

                assertThat(reading.gpus()).extracting(Gpu::minor).containsExactly(0, 2, 3);
                assertThat(reading.problems()).singleElement().asString().contains("GPU 1");
            }
        }

        @Test
        void readsLinksAndFabrics() {
            try (Nvml nvml = Nvml.open(node("nvlink").library())) {
                List<Gpu> gpus = nvml.read().gpus();

                assertThat(gpus.get(0).links())
                        .extracting(PciAddress::text)
                        .containsExactly("0000:27:00.0");
                assertThat(gpus.get(4).links()).isEmpty();
                assertThat(gpus.get(0).fabric())
                        .isEqualTo(new Fabric("01234567-89ab-cdef-0123-456789abcdef", 7, true));
                assertThat(gpus.get(3).fabric()).extracting(Fabric::complete).isEqualTo(false);
                assertThat(gpus.get(4).fabric()).isNull();
            }
        }

        @Test
        void readsWhileGpuInstancesChange() throws Exception {
            try (Nvml nvml = Nvml.open(node("h100-80").library())) {
                String gpu = nvml.read().gpus().get(0).uuid();
                CompletableFuture<Void> dividing =
                        CompletableFuture.runAsync(
                                () -> {
                                    for (int i = 0; i < 300; i++) {
                                        enableAndDisableMig(nvml, gpu);
                                    }
                                });

                while (!dividing.isDone()) {
                    assertThat(nvml.read().gpus()).hasSize(8);
                }
                dividing.get();
            }
        }

        private void enableAndDisableMig(Nvml nvml, String gpu) {
            nvml.switchMig(gpu, true);
            int instance = nvml.createInstance(gpu, 19, new Placement(0, 1));
            MigDevice device = nvml.createCompute(gpu, instance);
            nvml.destroyCompute(gpu, instance, device.computeInstance());
            nvml.destroyInstance(gpu, instance);
            nvml.switchMig(gpu, false);
        }

        @Test
        void needsNoRoot() {
            StandInNode node = node("h100-80");
            node.state().privileged(false);

            try (Nvml nvml = Nvml.open(node.library())) {
                var reading = nvml.read();

                assertThat(reading.problems()).isEmpty();
                assertThat(reading.gpus().get(0).mig().profiles())
                        .allSatisfy(profile -> assertThat(profile.placements()).isEmpty());
            }
        }
    }

    @Nested
    class Dividing {

        private static final int ONE = 19;
        private static final int SEVEN = 0;

        @Test
        void makesAnInstanceAndDestroysIt() {
            StandInNode node = node("h100-80");
            NodeState state = node.state();
            try (Nvml nvml = Nvml.open(node.library())) {
                String gpu = nvml.read().gpus().get(1).uuid();

                assertThat(nvml.switchMig(gpu, true)).isEqualTo(MigSwitch.DONE);
                int instance = nvml.createInstance(gpu, ONE, new Placement(5, 1));
                MigDevice device = nvml.createCompute(gpu, instance);

                assertThat(state.instances())
                        .containsExactly(
                                new NodeState.Instance(
                                        1, instance, ONE, 5, List.of(device.uuid())));
                assertThat(nvml.instances(gpu))
                        .containsExactly(
                                new GpuInstance(
                                        instance, ONE, new Placement(5, 1), List.of(device)));
                nvml.destroyCompute(gpu, instance, device.computeInstance());
                nvml.destroyInstance(gpu, instance);
                assertThat(state.instances()).isEmpty();
                assertThat(nvml.switchMig(gpu, false)).isEqualTo(MigSwitch.DONE);
            }
        }

        @Test
        void findsTheProfileThatSevenSlicesCanHave() {
            try (Nvml nvml = Nvml.open(node("h100-80").library())) {
                String gpu = nvml.read().gpus().get(0).uuid();
                nvml.switchMig(gpu, true);

                int instance = nvml.createInstance(gpu, SEVEN, new Placement(0, 8));

                assertThat(nvml.createCompute(gpu, instance).uuid()).startsWith("MIG-");
            }
        }

        @Test
        void failsIfThereIsNoRoom() {
            try (Nvml nvml = Nvml.open(node("h100-80").library())) {
                String gpu = nvml.read().gpus().get(0).uuid();
                nvml.switchMig(gpu, true);
                nvml.createInstance(gpu, ONE, new Placement(3, 1));

                assertThatThrownBy(() -> nvml.createInstance(gpu, SEVEN, new Placement(0, 8)))
                        .hasMessageContaining("Insufficient Resources (23)")
                        .hasMessageContaining("another instance is there")
                        .extracting(NvmlTest::reason)
                        .isEqualTo(Reason.NO_ROOM);
            }
        }

        @Test
        void failsIfAnInstanceIsInUse() {
            StandInNode node = node("h100-80");
            try (Nvml nvml = Nvml.open(node.library())) {
                String gpu = nvml.read().gpus().get(0).uuid();
                nvml.switchMig(gpu, true);
                int instance = nvml.createInstance(gpu, ONE, new Placement(3, 1));
                node.state().instancesBusy(0, true);

                assertThatThrownBy(() -> nvml.destroyInstance(gpu, instance))
                        .hasMessageContaining("end the processes")
                        .extracting(NvmlTest::reason)
                        .isEqualTo(Reason.IN_USE);
            }
        }

        @Test
        void needsAResetBeforeHopper() {
            try (Nvml nvml = Nvml.open(node("a100-40").library())) {
                String gpu = nvml.read().gpus().get(0).uuid();

                assertThat(nvml.switchMig(gpu, true)).isEqualTo(MigSwitch.NEEDS_RESET);
                Mig mig = nvml.read().gpus().get(0).mig();
                assertThat(mig).isNotNull();
                assertThat(mig.enabled()).isFalse();
                assertThat(mig.pending()).isTrue();
            }
        }

        @Test
        void failsWithoutRoot() {
            StandInNode node = node("h100-80");
            node.state().privileged(false);
            try (Nvml nvml = Nvml.open(node.library())) {
                String gpu = nvml.read().gpus().get(0).uuid();

                assertThatThrownBy(() -> nvml.switchMig(gpu, true))
                        .hasMessageContaining("run the driver as root")
                        .extracting(NvmlTest::reason)
                        .isEqualTo(Reason.NO_PERMISSION);
            }
        }

        @Test
        void readsExistingInstances() {
            try (Nvml nvml = Nvml.open(node("a100-40-divided").library())) {
                Gpu gpu = nvml.read().gpus().get(1);

                assertThat(gpu.mig().devices())
                        .extracting(MigDevice::profileId, device -> device.placement().start())
                        .containsExactlyInAnyOrder(
                                org.assertj.core.groups.Tuple.tuple(14, 0),
                                org.assertj.core.groups.Tuple.tuple(19, 2),
                                org.assertj.core.groups.Tuple.tuple(20, 3),
                                org.assertj.core.groups.Tuple.tuple(9, 4));
            }
        }
    }

    @Nested
    class Listening {

        private static final Duration SOON = Duration.ofSeconds(10);

        @Test
        void receivesErrors() {
            StandInNode node = node("h100-80");
            try (Nvml nvml = Nvml.open(node.library())) {
                String gpu = nvml.read().gpus().get(2).uuid();
                try (NvmlEvents events = nvml.subscribe(Set.of(gpu))) {
                    node.state().xid(2, -1, 79);
                    node.state().xid(2, 3, 95);

                    assertThat(events.await(SOON)).contains(new Event.Xid(gpu, 79, -1));
                    assertThat(events.await(SOON)).contains(new Event.Xid(gpu, 95, 3));
                    assertThat(events.await(Duration.ofMillis(1))).isEqualTo(Optional.empty());
                }
            }
        }

        @Test
        void receivesChangesOfTheMigMode() {
            try (Nvml nvml = Nvml.open(node("h100-80").library())) {
                String gpu = nvml.read().gpus().get(0).uuid();
                try (NvmlEvents events = nvml.subscribe(Set.of(gpu))) {
                    nvml.switchMig(gpu, true);

                    assertThat(events.await(SOON))
                            .get(InstanceOfAssertFactories.type(Event.MigChanged.class))
                            .isEqualTo(new Event.MigChanged(gpu));
                }
            }
        }

        @Test
        void failsIfAGpuIsLost() {
            StandInNode node = node("h100-80");
            try (Nvml nvml = Nvml.open(node.library())) {
                String gpu = nvml.read().gpus().get(0).uuid();
                try (NvmlEvents events = nvml.subscribe(Set.of(gpu))) {
                    node.state().lost(0, true);

                    assertThatThrownBy(() -> events.await(Duration.ofMillis(50)))
                            .extracting(NvmlTest::reason)
                            .isEqualTo(Reason.GPU_LOST);
                }
            }
        }
    }
}
