// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.dra4j.nvidia.nvml.NvmlEvents.Event;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** NVML as the driver sees it, against the stand-in. */
class NvmlTest {

    private static final Placement ALL = new Placement(0, 8);

    @TempDir
    private Path folder;

    private StandInNode node;
    private NodeState state;
    private Nvml nvml;
    private List<Problem> problems;

    private void install(String boards) {
        install(StandInNode.install(folder, boards));
    }

    private void install(StandInNode installed) {
        node = installed;
        state = node.state();
    }

    /** Opens NVML on boards, and reads their GPUs. */
    private List<Gpu> open(String boards) {
        install(boards);
        return open();
    }

    private List<Gpu> open() {
        nvml = Nvml.open(node.library());
        var reading = nvml.read();
        problems = reading.problems();
        return reading.gpus();
    }

    @AfterEach
    void close() {
        if (nvml != null) {
            nvml.close();
        }
    }

    private static void assertFails(ThrowingCallable call, Reason reason, String... words) {
        assertThatThrownBy(call)
                .hasMessageContainingAll(words)
                .extracting(thrown -> ((NvmlException) thrown).reason())
                .isEqualTo(reason);
    }

    @Nested
    class Opening {

        @Test
        void failsIfTheFileIsNoLibrary() throws Exception {
            Path file = Files.writeString(folder.resolve("libnvidia-ml.so.1"), "not ELF");

            assertFails(() -> Nvml.open(file), Reason.NO_DRIVER, "Can't load " + file);
        }

        @Test
        void failsIfTheKernelHasNoDriver() {
            install("t4");
            state.loaded(false);

            assertFails(
                    NvmlTest.this::open, Reason.NO_DRIVER, "Driver Not Loaded (9)", "load the driver's kernel module");
        }

        @Test
        void failsIfTheDriverFails() {
            install("t4");
            state.initFails(999);

            assertFails(NvmlTest.this::open, Reason.FAILING, "Unknown Error (999)");
        }

        @Test
        void isNoErrorWithoutGpus() {
            assertThat(open("none")).isEmpty();
            assertThat(nvml.read().driverVersion()).isEqualTo("550.163.01");
            assertThat(nvml.read().cudaVersion()).isEqualTo("12.4");
        }
    }

    @Nested
    class Reading {

        @Test
        void describesAGpu() {
            Gpu gpu = open("h100-80").get(3);

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

        @Test
        void knowsNoAddressingModeOfAnOlderDriver() {
            install(StandInNode.installOlder(folder, "h100-80"));

            assertThat(open()).hasSize(8).extracting(Gpu::addressingMode).containsOnlyNulls();
        }

        @Test
        void knowsThatMemoryIsShared() {
            install("t4");
            state.sharesMemory(0);

            assertThat(open().get(0).memory()).isNull();
        }

        @Test
        void keepsALostGpuAsItWas() {
            open("l40s");
            var before = nvml.read();

            state.lost(2, true);
            var after = nvml.read();

            assertThat(after.gpus()).isEqualTo(before.gpus());
            assertThat(after.lost()).containsExactly(before.gpus().get(2).uuid());
            state.lost(2, false);
            assertThat(nvml.read()).isEqualTo(before);
        }

        @Test
        void leavesOutAGpuThatItNeverSaw() {
            install("l40s");
            state.lost(1, true);

            assertThat(open()).extracting(Gpu::minor).containsExactly(0, 2, 3);
            assertThat(problems)
                    .containsExactly(new Problem(
                            "", Problem.Cost.GPU, "GPU 1", "nvmlDeviceGetHandleByIndex_v2: GPU is lost (15)"));
        }

        @Test
        void readsLinksAndFabrics() {
            List<Gpu> gpus = open("nvlink");

            assertThat(gpus.get(0).links()).extracting(PciAddress::text).containsExactly("0000:27:00.0");
            assertThat(gpus.get(4).links()).isEmpty();
            assertThat(gpus.get(0).fabric()).isEqualTo(new Fabric("01234567-89ab-cdef-0123-456789abcdef", 7, 3, 0));
            assertThat(gpus.get(3).fabric()).extracting(Fabric::complete).isEqualTo(false);
            assertThat(gpus.get(4).fabric()).isNull();
        }

        @Test
        void readsAllLinks() {
            assertThat(open("nvlink36"))
                    .flatExtracting(Gpu::links)
                    .extracting(PciAddress::text)
                    .contains("0000:47:00.0");
        }

        @Test
        void leavesOutTheLinksOfAGpuOneOfWhichCannotBeRead() {
            install("nvlink");
            state.linkFails(0, 2, 999);

            List<Gpu> gpus = open();

            assertThat(gpus).hasSize(5);
            assertThat(gpus.get(0).links()).isEmpty();
            assertThat(gpus.get(1).links()).hasSize(1);
            assertThat(problems)
                    .singleElement()
                    .satisfies(it -> assertThat(it.reason()).contains("nvlinkGroup is left out"));
        }

        @Test
        void readsLinksBehindOneThatIsNotSupported() {
            install("nvlink");
            state.linkFails(0, 0, 3);

            assertThat(open()).hasSize(5);
            assertThat(problems).isEmpty();
        }

        @Test
        void readsWhileGpuInstancesChange() throws Exception {
            String gpu = open("h100-80").get(0).uuid();
            CompletableFuture<Void> dividing = CompletableFuture.runAsync(() -> {
                for (int i = 0; i < 300; i++) {
                    enableAndDisableMig(gpu);
                }
            });

            while (!dividing.isDone()) {
                assertThat(nvml.read().gpus()).hasSize(8);
            }
            dividing.get();
        }

        private void enableAndDisableMig(String gpu) {
            nvml.switchMig(gpu, true);
            CreatedInstance instance = nvml.createInstance(gpu, 19, new Placement(0, 1));
            MigDevice device = nvml.createCompute(gpu, instance);
            nvml.destroyCompute(gpu, instance.id(), device.computeInstance());
            nvml.destroyInstance(gpu, instance.id());
            nvml.switchMig(gpu, false);
        }

        @Test
        void needsNoRoot() {
            install("h100-80");
            state.privileged(false);

            assertThat(open().get(0).mig().profiles())
                    .allSatisfy(profile -> assertThat(profile.placements()).isEmpty());
            assertThat(problems)
                    .hasSize(8)
                    .allSatisfy(it -> assertThat(it.cost()).isEqualTo(Problem.Cost.PLACEMENTS));
        }
    }

    @Nested
    class Dividing {

        private static final int ONE = 19;
        private static final int SEVEN = 0;

        private String gpu;

        /** The second GPU in MIG mode. */
        private void divide() {
            gpu = open("h100-80").get(1).uuid();
            assertThat(nvml.switchMig(gpu, true)).isEqualTo(MigSwitch.DONE);
        }

        @Test
        void makesAnInstanceAndDestroysIt() {
            divide();
            Placement at = new Placement(5, 1);

            CreatedInstance created = nvml.createInstance(gpu, ONE, at);
            MigDevice device = nvml.createCompute(gpu, created);
            int id = created.id();

            assertThat(state.instances())
                    .containsExactly(new NodeState.Instance(1, id, ONE, 5, List.of(device.uuid())));
            assertThat(nvml.instances(gpu)).containsExactly(new GpuInstance(id, ONE, at, List.of(device)));
            nvml.destroyCompute(gpu, id, device.computeInstance());
            nvml.destroyInstance(gpu, id);
            assertThat(state.instances()).isEmpty();
            assertThat(nvml.switchMig(gpu, false)).isEqualTo(MigSwitch.DONE);
        }

        @Test
        void findsTheProfileThatSevenSlicesCanHave() {
            divide();

            CreatedInstance instance = nvml.createInstance(gpu, SEVEN, ALL);

            assertThat(nvml.createCompute(gpu, instance).uuid()).startsWith("MIG-");
        }

        @Test
        void failsIfThereIsNoRoom() {
            divide();
            nvml.createInstance(gpu, ONE, new Placement(3, 1));

            assertFails(
                    () -> nvml.createInstance(gpu, SEVEN, ALL),
                    Reason.NO_ROOM,
                    "Insufficient Resources (23)",
                    "another instance is there");
        }

        @Test
        void failsIfAnInstanceIsInUse() {
            divide();
            int instance = nvml.createInstance(gpu, ONE, new Placement(3, 1)).id();
            state.instancesBusy(1, true);

            assertFails(() -> nvml.destroyInstance(gpu, instance), Reason.IN_USE, "end the processes");
        }

        @Test
        void needsAResetBeforeHopper() {
            gpu = open("a100-40").get(0).uuid();

            assertThat(nvml.switchMig(gpu, true)).isEqualTo(MigSwitch.NEEDS_RESET);
            Mig mig = nvml.read().gpus().get(0).mig();
            assertThat(mig).isNotNull();
            assertThat(mig.enabled()).isFalse();
            assertThat(mig.pending()).isTrue();
        }

        @Test
        void failsWithoutRoot() {
            gpu = open("h100-80").get(0).uuid();
            state.privileged(false);

            assertFails(() -> nvml.switchMig(gpu, true), Reason.NO_PERMISSION, "run the driver as root");
        }

        @Test
        void readsExistingInstances() {
            assertThat(open("a100-40-divided").get(1).mig().devices())
                    .extracting(
                            MigDevice::profileId, device -> device.placement().start())
                    .containsExactlyInAnyOrder(tuple(14, 0), tuple(19, 2), tuple(20, 3), tuple(9, 4));
        }
    }

    @Nested
    class Listening {

        private static final Duration SOON = Duration.ofSeconds(10);

        private String gpu;
        private NvmlEvents events;

        @BeforeEach
        void subscribe() {
            gpu = open("h100-80").get(2).uuid();
            events = nvml.subscribe(Set.of(gpu));
        }

        @AfterEach
        void unsubscribe() {
            events.close();
        }

        @Test
        void receivesErrors() {
            state.xid(2, -1, 79);
            state.xid(2, 3, 95);

            assertThat(events.await(SOON)).contains(new Event.Xid(gpu, 79, -1));
            assertThat(events.await(SOON)).contains(new Event.Xid(gpu, 95, 3));
            assertThat(events.await(Duration.ofMillis(1))).isEmpty();
        }

        @Test
        void receivesChangesOfTheMigMode() {
            nvml.switchMig(gpu, true);

            assertThat(events.await(SOON)).contains(new Event.MigChanged(gpu));
        }

        @Test
        void failsIfAGpuIsLost() {
            state.lost(2, true);

            assertFails(() -> events.await(Duration.ofMillis(50)), Reason.GPU_LOST, "(15)");
        }
    }
}
