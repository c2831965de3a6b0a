// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Pool;
import io.dra4j.nvidia.inventory.NodeDevices.Settings;
import io.dra4j.nvidia.nvml.Reading;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.standin.PciStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.test.ReleasePublisher;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Each board, with each option that changes what it offers, is published on each release. */
@Tag("slow")
class EveryBoardIT {

    private static final String SHARED = "h100-80";
    private static final String PASSED = "l40s";

    @TempDir
    private Path folder;

    private final Map<String, Pool> pools = new LinkedHashMap<>();

    @TestFactory
    Stream<DynamicTest> isPublished() throws IOException {
        for (String board : boards()) {
            StandInNode node = StandInNode.install(folder.resolve(board), board);
            add(board, node, false, Shares.NONE, PassthroughGpus.NONE);
            add(board + ", dynamic MIG", node, true, Shares.NONE, PassthroughGpus.NONE);
            if (board.equals(SHARED)) {
                for (String shares : List.of("unlimited", "memory", "8")) {
                    add(board + ", shares " + shares, node, false, Shares.parse(shares), PassthroughGpus.NONE);
                    add(board + ", dynamic, shares " + shares, node, true, Shares.parse(shares), PassthroughGpus.NONE);
                }
            }
            if (board.equals(PASSED)) {
                try (PciStandIn kernel = PciStandIn.install(node)) {
                    PassthroughGpus gpus = PassthroughGpus.of(new PciBus(node.sysfs()).gpus(), Set.of());
                    add(board + ", passthrough", node, false, Shares.NONE, gpus);
                    assertThat(kernel.gpus()).isNotEmpty();
                }
            }
        }
        return ReleasePublisher.tests(NodeDevices.DRIVER_NAME, pools);
    }

    private static List<String> boards() throws IOException {
        try (Stream<Path> files = Stream.concat(
                Files.list(Path.of("src/main/resources/io/dra4j/nvidia/boards")),
                Files.list(Path.of("src/test/resources/io/dra4j/nvidia/boards")))) {
            return files.map(file -> file.getFileName().toString().replace(".txt", ""))
                    .filter(name -> !name.equals("none"))
                    .sorted()
                    .toList();
        }
    }

    private void add(String what, StandInNode node, boolean dynamic, Shares shares, PassthroughGpus gpus) {
        Reading reading = Boards.read(node);
        Settings settings = new Settings("node-1", node.sysfs(), dynamic, shares, false);
        pools.put(
                what,
                NodeDevices.of(reading, settings, gpus).inventory().pools().get(0));
    }
}
