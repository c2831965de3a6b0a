// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.MpsStandIn;
import io.dra4j.nvidia.standin.SmiStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/** A driver that is killed in a call of nvidia-smi, or of MPS, while it sets sharing up or undoes it: the next start undoes all. */
@Tag("gate")
class SharingCrashIT {

    private static final Duration DEATH = Duration.ofSeconds(10);
    private static final String LONG = "{strategy: TimeSlicing, timeSlicingConfig: {interval: Long}}";
    private static final int CALLS_OF_SLICES = 4; // compute mode, time slices before and now, and their reset
    private static final String LIMITED =
            "{strategy: MPS, mpsConfig: {defaultActiveThreadPercentage: 50, defaultPinnedDeviceMemoryLimit: 1Gi}}";
    private static final int CALLS_OF_MPS = 8; // query and change of the mode, daemon, question, two limits, end, mode

    /** The number of the daemon's start: what it does comes after its parent's death. */
    private static final int DAEMON = 3;

    private static final boolean IS_FULL = Boolean.getBoolean("dra4j.full");
    private static final String CAN_MOUNT = "io.dra4j.nvidia.standin.MpsStandIn#canMount";
    private static final String WHY = "MPS daemons need root, and the right to mount";

    @TempDir
    private Path folder;

    private SmiStandIn smi;
    private MpsStandIn mps;
    private String gpu;
    private TestContext context;

    /** Starts the driver with the gates of sharing. */
    private void start(boolean withMps) throws Exception {
        StandInNode node = StandInNode.install(folder.resolve("node"), "l40s");
        smi = SmiStandIn.install(node);
        mps = withMps ? MpsStandIn.install(node) : null;
        try (var nvml = node.nvml()) {
            gpu = nvml.read().gpus().get(0).uuid();
        }
        context = DriverJar.context(
                DriverJar.command(folder), node, "sharing", "--feature-gates=TimeSlicingSettings=true,MPSSupport=true");
    }

    private void assertNothingIsLeft() throws Exception {
        assertThat(smi.slice(gpu)).isZero();
        assertThat(smi.mode(gpu)).isEqualTo("DEFAULT");
        Path directory = context.place().plugins().resolve("gpu.nvidia.com");
        for (Path files : List.of(directory.resolve("time-slices"), directory.resolve("mps"))) {
            if (Files.exists(files)) {
                assertThat(files).isEmptyDirectory();
            }
        }
        if (mps != null) {
            assertThat(mps.processes()).isEmpty();
            assertThat(Files.readString(Path.of("/proc/self/mounts"))).doesNotContain(directory.toString());
        }
    }

    /**
     * Prepares and unprepares a claim, with a kill in a call of a program.
     *
     * @param sharing what the claim asks for, as YAML
     * @param call the call's number from 1
     * @param isBefore whether the kill comes before the call has an effect
     */
    private void crash(String sharing, int call, boolean isBefore) throws Exception {
        smi.forgetCalls();
        smi.killAt(call, isBefore);
        JsonNode config = new YAMLMapper()
                .readTree("{apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig, sharing: %s}".formatted(sharing));
        PublishedDevice device = context.devices().all().stream()
                .filter(one -> one.name().equals("gpu-0"))
                .findFirst()
                .orElseThrow();
        KubeletClaim claim = context.claims()
                .create(context.claims().draft().request("gpu", device).config(config));

        String answer = context.calls().prepare(claim).toString();
        if (!smi.hasKilled()) {
            context.calls().unprepare(claim);
        }

        assertThat(context.driver().awaitExit(context.driver().current(), DEATH))
                .as("killed in call %d, but: %s, %s", call, smi.calls(), answer)
                .isPresent();
        smi.killNone();
        context.driver().restarted();
        context.calls().unprepared(claim);
        assertNothingIsLeft();
    }

    /** In any call in a full build. */
    @Test
    void slicesAreResetAfterAKill() throws Exception {
        start(false);

        crash(LONG, 3, false); // which they survive
        for (int call = 1; IS_FULL && call <= CALLS_OF_SLICES; call++) {
            crash(LONG, call, true);
            crash(LONG, call, false);
        }
    }

    @Test
    @EnabledIf(value = CAN_MOUNT, disabledReason = WHY)
    void mpsIsUndoneAfterAKill() throws Exception {
        start(true);

        crash(LIMITED, DAEMON, true); // the mode is set, the memory is mounted
        crash(LIMITED, DAEMON + 2, true); // the daemon runs
        crash(LIMITED, CALLS_OF_MPS, true); // the daemon has ended
        for (int call = 1; IS_FULL && call <= CALLS_OF_MPS; call++) {
            crash(LIMITED, call, true);
            if (call != DAEMON) {
                crash(LIMITED, call, false);
            }
        }
    }

    @AfterEach
    void stop() throws Exception {
        if (context != null) {
            context.close();
        }
        if (mps != null) {
            mps.processes().forEach(ProcessHandle::destroyForcibly);
            mps.unmount(folder);
        }
    }
}
