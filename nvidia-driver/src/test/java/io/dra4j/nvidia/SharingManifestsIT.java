// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.MpsStandIn;
import io.dra4j.nvidia.standin.SmiStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/**
 * Manifests such as users write of pods that share devices, and the edits of their containers, from
 * the API server to the CDI specs of the driver as a program.
 */
@Tag("nightly")
class SharingManifestsIT {

    private static final String CAN_MOUNT = "io.dra4j.nvidia.standin.MpsStandIn#canMount";
    private static final String WHY = "MPS daemons need root, and the right to mount";
    private static final String BOTH = "--feature-gates=TimeSlicingSettings=true,MPSSupport=true";
    private static final List<String> OF_MPS =
            List.of("env CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps", "mount /dev/shm", "mount /tmp/nvidia-mps");

    @TempDir
    private Path folder;

    private SmiStandIn smi;
    private MpsStandIn mps;
    private List<String> gpus;
    private TestContext context;
    private SharingManifests manifests;

    private Map<String, List<String>> prepared(String boards, String option, String... names) throws Exception {
        StandInNode node = StandInNode.install(folder.resolve("node"), boards);
        smi = SmiStandIn.install(node);
        mps = MpsStandIn.install(node);
        try (var nvml = node.nvml()) {
            gpus = nvml.read().gpus().stream().map(gpu -> gpu.uuid()).toList();
        }
        context = DriverJar.context(
                DriverJar.command(folder), Map.of(), SharingManifests.files(names), node, "sharing", option);
        manifests = SharingManifests.apply(context, names);
        return manifests.prepared();
    }

    @AfterEach
    void stop() throws Exception {
        context.close();
        mps.processes().forEach(ProcessHandle::destroyForcibly);
    }

    private void assertNothingIsLeft() throws Exception {
        manifests.claims().forEach(context.calls()::unprepared);
        assertThat(mps.processes()).isEmpty();
        assertThat(modes()).containsOnly("DEFAULT");
        assertThat(slices()).containsOnly(0);
    }

    private List<String> modes() throws IOException {
        List<String> modes = new ArrayList<>();
        for (String gpu : gpus) {
            modes.add(smi.mode(gpu));
        }
        return modes;
    }

    /** Returns the time slices of each GPU. */
    private List<Integer> slices() throws IOException {
        List<Integer> slices = new ArrayList<>();
        for (String gpu : gpus) {
            slices.add(smi.slice(gpu));
        }
        return slices;
    }

    private static List<String> withMps(String... nodes) {
        return Stream.concat(OF_MPS.stream(), Stream.of(nodes)).sorted().toList();
    }

    /** Those of one claim, and those of three claims at a time. */
    @Test
    @EnabledIf(value = CAN_MOUNT, disabledReason = WHY)
    void eachRequestIsSharedInItsOwnWay() throws Exception {
        Map<String, List<String>> seen = prepared("l40s", BOTH, "mps", "turns-and-mps", "short-turns");

        assertThat(seen)
                .isEqualTo(Map.of(
                        "one-half/worker", withMps("node /dev/nvidia0"),
                        "other-half/worker", withMps("node /dev/nvidia0"),
                        "both-ways/turn-0", List.of("node /dev/nvidia1"),
                        "both-ways/turn-1", List.of("node /dev/nvidia1"),
                        "both-ways/mps-0", withMps("node /dev/nvidia2"),
                        "both-ways/mps-1", withMps("node /dev/nvidia2"),
                        "two-in-turns/first", List.of("node /dev/nvidia3"),
                        "two-in-turns/second", List.of("node /dev/nvidia3")));
        assertThat(manifests.claims()).as("one for both halves").hasSize(3);
        assertThat(slices()).containsExactly(0, 3, 0, 1);
        assertThat(modes()).containsExactly("EXCLUSIVE_PROCESS", "DEFAULT", "EXCLUSIVE_PROCESS", "DEFAULT");
        assertThat(mps.calls())
                .contains(
                        "mps -f " + gpus.get(2),
                        "mps set_default_active_thread_percentage 50",
                        "mps set_default_device_pinned_mem_limit " + gpus.get(2) + " 10240M");
        assertThat(mps.processes()).as("two daemons with a server each").hasSize(4);
        assertNothingIsLeft();
    }

    @Test
    @EnabledIf(value = CAN_MOUNT, disabledReason = WHY)
    void aMigDeviceHasADaemonToo() throws Exception {
        Map<String, List<String>> seen = prepared("a100-40-divided", BOTH, "mig-with-mps");

        List<String> part = withMps(
                "node /dev/nvidia0", "node /dev/nvidia-caps/nvidia-cap102", "node /dev/nvidia-caps/nvidia-cap103");
        assertThat(seen).isEqualTo(Map.of("two-on-a-part/first", part, "two-on-a-part/second", part));
        assertThat(mps.calls().get(0)).startsWith("mps -f -M MIG-");
        assertThat(mps.calls()).anyMatch(call -> call.endsWith(" 2048M"));
        assertNothingIsLeft();
    }

    @Test
    void eachPodHasAShareOfOneGpu() throws Exception {
        Map<String, List<String>> seen = prepared("l40s", "--consumable-shares=memory", "shares");

        List<String> share = List.of("env NVIDIA_SHARE_MEMORY_GPU_0=8589934592", "node /dev/nvidia0");
        assertThat(seen).isEqualTo(Map.of("first-share/worker", share, "second-share/worker", share));
        assertThat(manifests.claims()).hasSize(2);
        assertNothingIsLeft();
    }
}
