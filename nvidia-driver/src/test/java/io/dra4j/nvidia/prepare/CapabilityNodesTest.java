// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.error.PrepareException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The numbers of MIG capabilities, as procfs has them, and as it does not. */
class CapabilityNodesTest {

    private static final String NAME = "gpu0/mig/gi1/access";
    private static final String GOOD = "DeviceFileMinor: 12\nDeviceFileMode: 292\nDeviceFileModify: 1\n";
    private static final String DEVICES =
            "Character devices:\n  1 mem\n195 nvidia-frontend\n240 nvidia-caps-imex-channels\n"
                    + "238 nvidia-caps\n\nBlock devices:\n259 blkext\n";

    @TempDir
    private Path proc;

    private Path access;

    @BeforeEach
    void mount() throws IOException {
        access = proc.resolve("driver/nvidia/capabilities").resolve(NAME);
        Files.createDirectories(access.getParent());
        Files.writeString(access, GOOD);
        Files.writeString(proc.resolve("devices"), DEVICES);
    }

    private DeviceNode read() {
        return new CapabilityNodes(proc).node(NAME);
    }

    private void refused(String words) {
        assertThatThrownBy(this::read).isInstanceOf(PrepareException.class).hasMessageContaining(words);
    }

    @Test
    void areNodesOfTheNumbersOfTheKernel() {
        assertThat(read())
                .isEqualTo(DeviceNode.builder("/dev/nvidia-caps/nvidia-cap12")
                        .type("c")
                        .major(238L)
                        .minor(12L)
                        .fileMode(0444)
                        .permissions("r")
                        .build());
    }

    @Test
    void areMissedWhereTheKernelHasNone() throws IOException {
        Files.writeString(proc.resolve("devices"), DEVICES.replace("238 nvidia-caps\n", ""));
        refused(proc.resolve("devices") + " has no nvidia-caps");

        Files.delete(proc.resolve("devices"));
        refused("Can't read " + proc.resolve("devices"));
    }

    @Test
    void areMissedByTheirNames() throws IOException {
        Files.writeString(access, "DeviceFileMode: 292\n");
        refused(access + " has no line like");

        Files.delete(access);
        refused("Can't read " + access);

        Files.createDirectory(access);
        refused("Can't read " + access);
    }

    @Test
    void areNodesOrRefusedWhateverTheFilesHave() throws IOException {
        SplittableRandom random = new SplittableRandom(6);
        int refused = 0;
        for (int round = 0; round < 2_000; round++) {
            Files.write(access, damaged(GOOD, random));
            Files.write(proc.resolve("devices"), damaged(DEVICES, random));
            try {
                DeviceNode node = read();
                assertThat(node.minor()).isBetween(0L, 1L << 20);
                assertThat(node.major()).isBetween(0L, 1L << 12);
                assertThat(node.fileMode()).isBetween(0, 0777);
            } catch (PrepareException e) {
                refused++;
            }
        }
        assertThat(refused).isBetween(500, 1_999);
    }

    /** Some bytes changed, all of them, some left out, or a number that is too large. */
    private static byte[] damaged(String text, SplittableRandom random) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        switch (random.nextInt(5)) {
            case 0 -> random.nextBytes(bytes);
            case 1 -> bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            case 2 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
            case 3 -> {
                String number = Long.toString(random.nextLong() >>> random.nextInt(1, 64));
                bytes = text.replaceFirst("(12|292|238)", number).getBytes(StandardCharsets.UTF_8);
            }
            default -> {}
        }
        return bytes;
    }
}
