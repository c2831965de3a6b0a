// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.driver.ProcessDriver;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * No instance leaks and none is destroyed that a claim has, whatever happens at whatever step: 2,000
 * calls with {@code -Pfull}, and a few without.
 */
class MigWalkIT {

    private static final int CALLS = Boolean.getBoolean("dra4j.full") ? 2_000 : 150;
    private static final long SEED = Long.getLong("dra4j.seed", 1);

    @TempDir private Path folder;

    @Test
    void claimsKeepTheirPartsThroughCrashes() {
        StandInNode node = StandInNode.install(folder, "h100-80");
        String settings = "driver: {name: gpu.nvidia.com, process: {command: [the test has it]}}";
        try (Bench bench =
                Bench.open(
                        SettingsReader.parse(settings, "the test", Map.of()),
                        new ProcessDriver(command(node), Map.of(), Duration.ofSeconds(60)),
                        "walk")) {
            bench.driver().start();
            bench.awaitPools();
            String counts = new MigWalk(bench, node.state(), SEED).walk(CALLS);
            System.out.println("Walk over 8 H100: " + counts);
        }
    }

    private static List<String> command(StandInNode node) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-jar",
                Path.of("target/dra4j-nvidia-driver.jar").toAbsolutePath().toString(),
                "--dynamic-mig",
                "--nvidia-driver-root=" + node.root(),
                "--sysfs-root=" + node.sysfs(),
                "--proc-root=" + node.proc(),
                "--nvidia-cdi-hook-path=" + node.hook());
    }
}
