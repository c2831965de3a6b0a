// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.SmiStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A driver that programs kill while it sets sharing up or undoes it: the next start undoes all. */
abstract class SharingCrashes {

    private static final Duration DEATH = Duration.ofSeconds(10);

    @TempDir
    Path folder;

    StandInNode node;
    SmiStandIn smi;
    String gpu;
    private TestContext context;

    /** Starts the driver with the gates of sharing. */
    final void start() throws Exception {
        node = StandInNode.install(folder.resolve("node"), "l40s");
        smi = SmiStandIn.install(node);
        installed();
        try (var nvml = node.nvml()) {
            gpu = nvml.read().gpus().get(0).uuid();
        }
        context = DriverJar.context(
                DriverJar.command(folder), node, "sharing", "--feature-gates=TimeSlicingSettings=true,MPSSupport=true");
    }

    /** Called before the driver starts. */
    void installed() throws Exception {}

    /** Returns the driver's directory. */
    final Path directory() {
        return context.place().plugins().resolve("gpu.nvidia.com");
    }

    /** Asserts that a directory of the driver's has no files, or was never made. */
    final void assertIsEmpty(String name) {
        Path files = directory().resolve(name);
        if (Files.exists(files)) {
            assertThat(files).isEmptyDirectory();
        }
    }

    /** Asserts that nothing of a claim is left. */
    abstract void assertNothingIsLeft() throws Exception;

    /**
     * Prepares and unprepares a claim, with a kill in a call of a program.
     *
     * @param sharing what the claim asks for, as YAML
     * @param call the call's number from 1
     * @param isBefore whether the kill comes before the call has an effect
     */
    final void crash(String sharing, int call, boolean isBefore) throws Exception {
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

    @AfterEach
    void stop() throws Exception {
        if (context != null) {
            context.close();
        }
    }
}
