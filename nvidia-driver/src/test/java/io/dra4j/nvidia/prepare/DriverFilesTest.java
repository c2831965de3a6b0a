// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.Mount;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.node.DeviceFolder;
import io.dra4j.nvidia.node.DriverRoot;
import io.dra4j.nvidia.node.Roots;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.standin.LoaderCache;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.io.TempDir;

/** The files and nodes of a driver that containers get, wherever they are, and as they come, change and go. */
class DriverFilesTest {

    @TempDir
    private Path folder;

    private StandInNode node;
    private List<Gpu> gpus;
    private Edits edits;
    private String version = StandInNode.VERSION;
    private List<String> noted;

    @Scenarios("file-scenarios.txt")
    void areMountedAndLinked(String scenario) throws IOException {
        node = StandInNode.install(folder, "t4");
        try (Nvml nvml = node.nvml()) {
            gpus = nvml.read().gpus();
        }
        edits = new Edits(node.roots(), HookProgram.at(node.hook()));
        for (String line : scenario.split("\n")) {
            String[] parts = line.replace("{root}", node.root().toString())
                    .replace("{l}", "usr/lib/x86_64-linux-gnu")
                    .replace("{v}", StandInNode.VERSION)
                    .replace("{pci1}", gpus.get(1).pci().text())
                    .split(" : ", 2);
            run(parts[0].split(" "), parts.length == 1 ? "" : parts[1].replace("{space}", " "));
        }
    }

    private void run(String[] words, String text) throws IOException {
        switch (words[0]) {
            case "#" -> {} // its title
            case "file" -> Files.writeString(inFolder(node.root().resolve(words[1])), text);
            case "proc" -> Files.writeString(inFolder(node.proc().resolve(words[1])), text + "\n");
            case "sys" -> Files.writeString(inFolder(node.sysfs().resolve(words[1])), text + "\n");
            case "link" -> Files.createSymbolicLink(inFolder(node.root().resolve(words[1])), Path.of(words[2]));
            case "delete" -> Files.delete(node.root().resolve(words[1]));
            case "move" ->
                Files.move(
                        node.root().resolve(words[1]),
                        inFolder(node.root().resolve(words[2])),
                        StandardCopyOption.ATOMIC_MOVE);
            case "cache" -> LoaderCache.write(node.root(), Arrays.copyOfRange(words, 1, words.length));
            case "version" -> version = words[1];
            case "look" ->
                edits = words.length == 1
                        ? new Edits(node.roots(), HookProgram.at(node.hook()))
                        : new Edits(node.roots(), HookProgram.at(node.hook()), Set.of(DaemonSocket.valueOf(words[1])));
            case "at" -> {
                Path dev = words.length > 2 ? Path.of(words[2]) : null;
                Roots roots = new Roots(
                        new DriverRoot(node.root(), Path.of(words[1])),
                        DeviceFolder.of(dev, null),
                        node.proc(),
                        node.sysfs());
                edits = new Edits(roots, HookProgram.at(text.isEmpty() ? node.hook() : Path.of(text)));
            }
            case "mode" ->
                Files.setPosixFilePermissions(node.root().resolve(words[1]), PosixFilePermissions.fromString(words[2]));
            case "group" -> {
                assumeTrue("root".equals(System.getProperty("user.name")), "only root can give a file to a group");
                Files.setAttribute(node.root().resolve(words[1]), "unix:gid", Integer.valueOf(words[2]));
            }
            case "note" -> noted = entries("mounts");
            case "as-noted" -> assertThat(entries("mounts")).isEqualTo(noted);
            case "is" -> {
                String part = words.length > 2 ? words[2] : "";
                List<String> meant = entries(words[1]).stream()
                        .filter(entry -> entry.contains(part))
                        .toList();
                assertThat(meant).hasToString(text);
            }
            case "has" -> assertThat(entries(words[1])).contains(text.split(" \\| "));
            case "lacks" -> assertThat(entries(words[1])).noneMatch(entry -> entry.contains(text));
            case "refused" ->
                assertThatThrownBy(() -> of(words.length > 1 ? words[1] : ""))
                        .isInstanceOf(PrepareException.class)
                        .hasMessageContainingAll(text.split(" \\| "));
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private static Path inFolder(Path file) throws IOException {
        Files.createDirectories(file.getParent());
        return file;
    }

    /** The edits of a GPU, {@code gpu1}, or those that all have. */
    private ContainerEdits of(String gpu) {
        return gpu.startsWith("gpu") ? edits.of(gpus.get(gpu.charAt(3) - '0'), null) : edits.common(version);
    }

    private List<String> entries(String kind) {
        ContainerEdits common = of(kind);
        List<String> entries = switch (kind.replaceFirst("^gpu\\d-", "")) {
            case "mounts" -> common.mounts().stream().map(Mount::containerPath).toList();
            case "sources" -> common.mounts().stream().map(Mount::hostPath).toList();
            case "places" ->
                common.mounts().stream()
                        .map(mount -> mount.containerPath() + " < " + mount.hostPath())
                        .sorted()
                        .toList();
            case "options" ->
                common.mounts().stream()
                        .map(mount -> mount.containerPath() + " " + String.join(" ", mount.options()))
                        .toList();
            case "links" ->
                common.hooks().get(0).args().stream()
                        .filter(arg -> arg.contains("::"))
                        .toList();
            case "nodes" ->
                common.deviceNodes().stream()
                        .map(node -> node.path() + (node.hostPath() == null ? "" : " < " + node.hostPath()))
                        .toList();
            case "groups" ->
                common.additionalGids().stream().map(String::valueOf).toList();
            case "env" ->
                common.env().entrySet().stream().map(String::valueOf).sorted().toList();
            case "hooks" ->
                common.hooks().stream()
                        .map(hook -> "%s %s %s: %s"
                                .formatted(hook.name(), hook.path(), hook.env(), String.join(" ", hook.args())))
                        .toList();
            case "folders" -> common.hooks().get(2).args();
            default ->
                common.hooks().stream().flatMap(hook -> hook.args().stream()).toList();
        };
        assertThat(common.mounts()).extracting(Mount::containerPath).doesNotHaveDuplicates();
        return entries;
    }
}
