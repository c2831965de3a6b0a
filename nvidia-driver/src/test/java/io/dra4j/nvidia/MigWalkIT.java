// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * No instance leaks, and none of a claim or of somebody else is destroyed, after a fault at any
 * step: 5,000 calls with {@code -Pnightly}, and a few without.
 */
@Tag("nightly")
@Tag("counts")
class MigWalkIT {

    private static final int CALLS =
            Boolean.getBoolean("dra4j.nightly") ? 5_000 : Boolean.getBoolean("dra4j.full") ? 80 : 20;
    private static final long SEED = Long.getLong("dra4j.seed", 1);

    @TempDir
    private Path folder;

    @Test
    void claimsKeepTheirMigDevicesThroughCrashes() throws Exception {
        StandInNode node = StandInNode.install(folder, "h100-80");
        List<String> command = DriverJar.command(folder);
        try (TestContext context = DriverJar.context(command, node, "walk", "--dynamic-mig")) {
            String counts = new MigWalk(context, node, SEED).walk(CALLS);
            System.out.println("Walk over 8 H100: " + counts);
        }
    }
}
