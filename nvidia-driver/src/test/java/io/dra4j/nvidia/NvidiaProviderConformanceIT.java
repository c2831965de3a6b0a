// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.device.Taint.Effect;
import io.dra4j.conformance.DraConformance;
import io.dra4j.nvidia.gates.NvidiaGates;
import io.dra4j.nvidia.health.ErrorWatch;
import io.dra4j.nvidia.health.HealthPolicy;
import io.dra4j.nvidia.health.HealthStateFile;
import io.dra4j.nvidia.health.Thresholds;
import io.dra4j.nvidia.health.XidEffects;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.prepare.HookProgram;
import io.dra4j.nvidia.sharing.ConfigKinds;
import io.dra4j.nvidia.sharing.DeviceSharing;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.nvidia.vfio.Passthrough;
import io.dra4j.testkit.driver.Place;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The in-process form of the conformance suite, as a vendor's tests run it. */
@Tag("gate")
class NvidiaProviderConformanceIT {

    /** The driver as a program is tried by more; all takes two minutes. */
    private static final String SELECTION =
            System.getProperty("dra4j.boards", "").equals("whole")
                    ? "skip: [DRA-SLICE-06, DRA-SLICE-14, DRA-SLICE-22]" // a minute each by contract
                    : "only: [DRA-PREP-01, DRA-PREP-05, DRA-UNP-01, DRA-CDI-02, DRA-PART-01]";

    @TempDir
    private static Path folder;

    @TestFactory
    Stream<DynamicNode> conformance() {
        return Stream.of("1.36", "1.38").map(release -> DynamicContainer.dynamicContainer(release, tests(release)));
    }

    private static Stream<DynamicNode> tests(String release) {
        return DraConformance.of("gpu.nvidia.com", NvidiaProviderConformanceIT::provider)
                .builder(driver -> driver.healthService())
                .settings(SELECTION + "\napiServer: {kubernetes: '%s'}".formatted(release))
                .tests();
    }

    private static NvidiaDeviceProvider provider(Place place) {
        try {
            Path own = Files.createTempDirectory(folder, place.node());
            StandInNode node = StandInNode.install(own, "h100-80");
            Nvml nvml = Nvml.open(node.library());
            return new NvidiaDeviceProvider(
                    nvml,
                    new NodeDevices.Settings(place.node(), node.sysfs(), true),
                    new Edits(node.roots(), HookProgram.at(node.hook())),
                    new HealthPolicy(
                            ErrorWatch.auto,
                            XidEffects.DEFAULT,
                            Effect.NONE,
                            Thresholds.NONE,
                            false,
                            Duration.ofSeconds(5),
                            new HealthStateFile(own.resolve("gpus.json"), node.proc())),
                    new DeviceSharing(ConfigKinds.of(NvidiaGates.parse("")), List.of(), Optional.empty()),
                    new Passthrough(
                            nvml,
                            node.options().nvidiaSmi(),
                            new Passthrough.Settings(false, node.sysfs(), node.proc())),
                    new PartitionClaims(
                            node.options().fabricManager(),
                            nvml,
                            node.options().nvidiaSmi(),
                            own.resolve("partitions")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
