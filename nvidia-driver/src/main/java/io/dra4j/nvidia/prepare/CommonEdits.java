// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.Mount;
import io.dra4j.nvidia.node.DriverFiles;
import io.dra4j.nvidia.node.Roots;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The edits that all containers with a GPU have in common. */
final class CommonEdits {

    private static final List<String> READ_ONLY = List.of("ro", "nosuid", "nodev", "rbind", "rprivate");
    private static final List<String> OF_DAEMON = List.of("nosuid", "nodev", "rbind", "rprivate", "noexec");

    private static final List<String> NODES =
            List.of(DeviceNodes.OF_DISPLAYS, "nvidia-uvm-tools", "nvidia-uvm", Roots.CONTROL);

    private final Roots roots;
    private final HookProgram program;

    CommonEdits(Roots roots, HookProgram program) {
        this.roots = roots;
        this.program = program;
    }

    ContainerEdits of(DriverFiles driver) {
        String libcuda =
                roots.driver().inContainer(driver.libcuda()).getParent().toString();
        ContainerEdits.Builder edits =
                ContainerEdits.builder().env("NVIDIA_VISIBLE_DEVICES", "void").env("NVIDIA_CTK_LIBCUDA_DIR", libcuda);
        DeviceNodes nodes = new DeviceNodes(roots);
        nodes.add(NODES.stream().filter(nodes::isThere).toList(), edits);
        driver.readOnly().map(file -> mount(file, READ_ONLY)).forEach(edits::mount);
        driver.ofDaemons().stream().map(file -> mount(file, OF_DAEMON)).forEach(edits::mount);
        hooks(driver).forEach(edits::hook);
        return edits.build();
    }

    private Mount mount(Path file, List<String> options) {
        return new Mount(
                roots.driver().onNode(file).toString(),
                roots.driver().inContainer(file).toString(),
                options,
                null);
    }

    private List<Hook> hooks(DriverFiles driver) {
        List<Hook> hooks = new ArrayList<>();
        hooks.add(program.links(driver.links()));
        command("enable-cuda-compat", "--host-driver-version=" + driver.version())
                .forEach(hooks::add);
        List<String> folders = driver.directories().stream()
                .map(folder -> roots.driver().inContainer(folder).toString())
                .toList();
        hooks.add(program.hook("update-ldcache", HookProgram.repeated("--folder", folders)));
        command("disable-device-node-modification").forEach(hooks::add);
        return hooks;
    }

    /** Returns the hook of a command, if the program has it. */
    private Stream<Hook> command(String command, String... more) {
        return program.has(command) ? Stream.of(program.hook(command, List.of(more))) : Stream.empty();
    }
}
