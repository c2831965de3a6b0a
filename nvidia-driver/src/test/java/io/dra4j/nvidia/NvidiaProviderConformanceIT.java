// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.DeviceProvider;
import io.dra4j.conformance.DraConformance;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.driver.Place;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

    private static DeviceProvider provider(Place place) {
        try {
            Path own = Files.createTempDirectory(folder, place.node());
            StandInNode node = StandInNode.install(own, "h100-80");
            Files.createDirectory(own.resolve("gpu.nvidia.com"));
            return NvidiaDriverMain.provider(DoctorOnBoards.parsed(List.of(
                    "--driver-name=gpu.nvidia.com",
                    "--node-name=" + place.node(),
                    "--dynamic-mig",
                    "--rescan-interval=5",
                    "--nvidia-driver-root=" + node.root(),
                    "--sysfs-root=" + node.sysfs(),
                    "--proc-root=" + node.proc(),
                    "--nvidia-cdi-hook-path=" + node.hook(),
                    "--kubelet-plugins-directory-path=" + own)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
