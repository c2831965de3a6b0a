// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static io.dra4j.nvidia.standin.StandInNode.VERSION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.Hook;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.standin.StandInNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The display nodes of a GPU: who may open them, and their links by PCI address. */
class DisplaysTest {

    private static final int VIDEO = 44;
    private static final int RENDER = 105;

    @TempDir
    private Path folder;

    private StandInNode node;
    private Gpu gpu;

    @BeforeEach
    void install() {
        node = StandInNode.install(folder, "t4");
        try (Nvml nvml = Nvml.open(node.library())) {
            gpu = nvml.read().gpus().get(1);
        }
    }

    private ContainerEdits edits() {
        return new Edits(node.roots(), HookProgram.at(node.hook())).whole(gpu);
    }

    private void owned(String name, int group, String mode) throws IOException {
        Path file = node.root().resolve("dev").resolve(name);
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can give a file to a group");
        Files.setAttribute(file, "unix:gid", group);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }

    private void card() throws IOException {
        Files.createDirectory(node.sysfs()
                .resolve("bus/pci/devices")
                .resolve(gpu.pci().text())
                .resolve("drm/card3"));
        Files.createFile(node.root().resolve("dev/dri/card3"));
    }

    private void byPath(String pci, String kind, String target) throws IOException {
        Path link = node.root().resolve("dev/dri/by-path/pci-" + pci + "-" + kind);
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, Path.of(target));
    }

    @Test
    void areForTheirGroups() throws IOException {
        card();
        owned("dri/renderD129", RENDER, "rw-rw----");
        owned("dri/card3", VIDEO, "rw-rw-r--");

        assertThat(edits().additionalGids()).containsExactly((long) VIDEO, (long) RENDER);
    }

    @Test
    void areForEverybodyWithoutAGroup() throws IOException {
        owned("dri/renderD129", RENDER, "rw-rw-rw-");
        owned("nvidia1", 0, "rw-rw----");

        assertThat(edits().additionalGids()).isEmpty();
    }

    @Test
    void areNotTheOnlyNodesOfAGroup() throws IOException {
        owned("nvidia1", VIDEO, "rw-rw----");
        owned("nvidiactl", VIDEO, "rw-rw----");
        owned("nvidia-uvm", VIDEO, "rw-rw----");

        Edits all = new Edits(node.roots(), HookProgram.at(node.hook()));
        assertThat(all.whole(gpu).additionalGids()).containsExactly((long) VIDEO);
        assertThat(all.common(VERSION).additionalGids()).containsExactly((long) VIDEO);
    }

    @Test
    void haveTheLinksThatTheNodeHas() throws IOException {
        card();
        byPath(gpu.pci().text(), "card", "../card3");
        byPath(gpu.pci().text(), "render", "../renderD129");
        byPath("0000:ff:00.0", "card", "../card3");

        assertThat(edits().hooks())
                .extracting(Hook::args)
                .containsExactly(List.of(
                        "nvidia-cdi-hook",
                        "create-symlinks",
                        "--link",
                        "../card3::/dev/dri/by-path/pci-" + gpu.pci().text() + "-card",
                        "--link",
                        "../renderD129::/dev/dri/by-path/pci-" + gpu.pci().text() + "-render"));
    }

    @Test
    void haveNoLinksToNodesOfOthers() throws IOException {
        byPath(gpu.pci().text(), "render", "../renderD128");

        assertThat(edits().hooks()).isEmpty();
    }
}
