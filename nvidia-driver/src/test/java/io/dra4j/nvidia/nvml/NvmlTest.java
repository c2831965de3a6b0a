// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.nvidia.nvml.Nvml.CreatedInstance;
import io.dra4j.nvidia.nvml.Nvml.MigSwitch;
import io.dra4j.nvidia.nvml.NvmlEvents.Event;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.standin.NodeState;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** NVML as the driver sees it, against the stand-in. */
class NvmlTest {

    private static final InstancePlacement ALL = new InstancePlacement(0, 8);

    @TempDir
    private Path folder;

    private StandInNode node;
    private NodeState state;

    @AutoClose
    private Nvml nvml;

    private List<NvmlProblem> problems;

    private void install(String boards) {
        node = StandInNode.install(folder, boards);
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

    private static void assertFails(ThrowingCallable call, Reason reason, String... words) {
        assertThatThrownBy(call)
                .hasMessageContainingAll(words)
                .extracting(thrown -> ((NvmlException) thrown).reason())
                .isEqualTo(reason);
    }

    @Nested
    class Reading {

        @Test
        void leavesOutAGpuThatItNeverSaw() {
            install("l40s");
            state.lost(1, true);

            assertThat(open()).extracting(Gpu::minor).containsExactly(0, 2, 3);
            assertThat(problems)
                    .containsExactly(new NvmlProblem(
                            "", NvmlProblem.Cost.GPU, "GPU 1", "nvmlDeviceGetHandleByIndex_v2: GPU is lost (15)"));
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
            CreatedInstance instance = nvml.createInstance(gpu, 19, new InstancePlacement(0, 1));
            MigDevice device = nvml.createCompute(gpu, instance);
            nvml.destroyCompute(gpu, instance.id(), device.computeInstance());
            nvml.destroyInstance(gpu, instance.id());
            nvml.switchMig(gpu, false);
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
        void failsIfThereIsNoRoom() {
            divide();
            nvml.createInstance(gpu, ONE, new InstancePlacement(3, 1));

            assertFails(
                    () -> nvml.createInstance(gpu, SEVEN, ALL),
                    Reason.NO_ROOM,
                    "Insufficient Resources (23)",
                    "another instance occupies the place");
        }

        @Test
        void failsIfAnInstanceIsInUse() {
            divide();
            int instance =
                    nvml.createInstance(gpu, ONE, new InstancePlacement(3, 1)).id();
            state.instancesBusy(1, true);

            assertFails(() -> nvml.destroyInstance(gpu, instance), Reason.IN_USE, "end the processes");
        }

        @Test
        void failsWithoutRoot() {
            gpu = open("h100-80").get(0).uuid();
            state.privileged(false);

            assertFails(() -> nvml.switchMig(gpu, true), Reason.NO_PERMISSION, "run the driver as root");
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
