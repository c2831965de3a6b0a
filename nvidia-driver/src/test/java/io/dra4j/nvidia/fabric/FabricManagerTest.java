// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.nvidia.standin.FabricStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The library of the fabric manager; what claims do with its partitions is in fabric-scenarios.txt. */
class FabricManagerTest {

    @TempDir
    private Path folder;

    @Test
    void opensItsLibraryAgainAfterAnUpdate() throws Exception {
        FabricStandIn manager =
                FabricStandIn.install(StandInNode.install(folder, "h100-80"), "fabric/now/libnvfm.so.1");
        AtomicInteger opened = new AtomicInteger();
        FabricManager fabric = new FabricManager(
                () -> true,
                () -> {
                    opened.incrementAndGet();
                    return manager.library();
                },
                "/run/nvidia-fabricmanager/socket");
        manager.edit("fault .*", "fault fmConnect -6");

        assertThat(fabric.read().problem()).contains("another version");

        manager.edit("fault .*", "fault none 0");
        assertThat(fabric.read().problem()).isNull();
        assertThat(opened).hasValue(2);
    }
}
