// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.HookName;
import io.dra4j.api.container.Mount;
import io.dra4j.api.error.PrepareException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The edits that all containers with a GPU have in common. */
final class CommonEdits {

    private static final List<String> READ_ONLY =
            List.of("ro", "nosuid", "nodev", "rbind", "rprivate");
    private static final List<String> SOCKET =
            List.of("nosuid", "nodev", "rbind", "rprivate", "noexec");

    private static final List<String> OPTIONAL_NODES =
            List.of("nvidia-modeset", "nvidia-uvm-tools", "nvidia-uvm");

    private final Roots roots;
    private final Path hook;

    /**
     * Creates edits for the driver below some roots.
     *
     * @param hook the path of {@code nvidia-cdi-hook} on the node
     */
    CommonEdits(Roots roots, Path hook) {
        this.roots = roots;
        this.hook = hook;
    }

    ContainerEdits of(DriverFiles driver) {
        Path seen = roots.seen(hook).orElse(null);
        if (seen != null && !(Files.isRegularFile(seen) && Files.isExecutable(seen))) {
            throw new PrepareException(
                    "Program %s not found, which prepares each container: install NVIDIA's container toolkit, or set --nvidia-cdi-hook-path"
                            .formatted(hook));
        }
        ContainerEdits.Builder edits =
                ContainerEdits.builder()
                        .env("NVIDIA_VISIBLE_DEVICES", "void")
                        .env(
                                "NVIDIA_CTK_LIBCUDA_DIR",
                                roots.inContainer(driver.libcuda()).getParent().toString());
        nodes().forEach(edits::deviceNode);
        driver.readOnly().map(file -> mount(file, READ_ONLY)).forEach(edits::mount);
        driver.sockets().stream().map(file -> mount(file, SOCKET)).forEach(edits::mount);
        hooks(driver).forEach(edits::hook);
        return edits.build();
    }

    private List<DeviceNode> nodes() {
        List<DeviceNode> nodes = new ArrayList<>();
        OPTIONAL_NODES.stream()
                .filter(name -> Files.exists(roots.devices().resolve(name)))
                .map(name -> nodeOf(roots, name))
                .forEach(nodes::add);
        Path control = roots.devices().resolve(Roots.CONTROL);
        if (!Files.exists(control)) {
            throw new PrepareException(
                    "Device node %s not found, which all programs need: load the driver's kernel module, and run nvidia-modprobe"
                            .formatted(control));
        }
        nodes.add(nodeOf(roots, Roots.CONTROL));
        return nodes;
    }

    /** Returns a device node, which has the same name on the node and in containers. */
    static DeviceNode nodeOf(Roots roots, String name) {
        String inContainer = "/dev/" + name;
        String onNode = roots.deviceOnNode(name).toString();
        return onNode.equals(inContainer)
                ? DeviceNode.of(inContainer)
                : DeviceNode.of(inContainer, onNode);
    }

    private Mount mount(Path file, List<String> options) {
        return new Mount(
                roots.onNode(file).toString(), roots.inContainer(file).toString(), options, null);
    }

    private List<Hook> hooks(DriverFiles driver) {
        List<Hook> hooks = new ArrayList<>();
        List<String> links = new SymbolicLinks(roots).of(driver);
        if (!links.isEmpty()) {
            hooks.add(hook("create-symlinks", pairs("--link", links)));
        }
        hooks.add(hook("enable-cuda-compat", List.of("--host-driver-version=" + driver.version())));
        List<String> folders =
                driver.directories().stream()
                        .map(folder -> roots.inContainer(folder).toString())
                        .toList();
        hooks.add(hook("update-ldcache", pairs("--folder", folders)));
        hooks.add(hook("disable-device-node-modification", List.of()));
        return hooks;
    }

    private static List<String> pairs(String flag, List<String> values) {
        List<String> args = new ArrayList<>();
        for (String value : values) {
            args.add(flag);
            args.add(value);
        }
        return args;
    }

    private Hook hook(String command, List<String> more) {
        List<String> args = new ArrayList<>(List.of("nvidia-cdi-hook", command));
        args.addAll(more);
        return new Hook(
                HookName.CREATE_CONTAINER,
                hook.toString(),
                args,
                List.of("NVIDIA_CTK_DEBUG=false"),
                null);
    }
}
