// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.node.Roots;
import io.dra4j.nvidia.nvml.Gpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;

/** The driver's device nodes, without which no container starts. */
record DeviceNodes(Roots roots) {

    /** The node that graphics programs open. */
    static final String OF_DISPLAYS = "nvidia-modeset";

    private static final int OTHERS_READ_AND_WRITE = 06;

    /** Checks the nodes that all programs open. */
    void requireCommon() {
        require(
                Roots.CONTROL,
                () ->
                        "all programs with a GPU open it: an administrator must load the kernel module nvidia, and run nvidia-modprobe");
        for (String name : List.of("nvidia-uvm", "nvidia-uvm-tools")) {
            require(
                    name,
                    () ->
                            "CUDA opens it: an administrator must run nvidia-modprobe -u -c0, which loads the kernel module nvidia-uvm and creates the node");
        }
    }

    void require(Gpu gpu) {
        require(
                "nvidia" + gpu.minor(),
                () ->
                        "it belongs to %s: an administrator must run nvidia-modprobe -c%d, or look for the reason in the kernel's log"
                                .formatted(gpu.uuid(), gpu.minor()));
    }

    private void require(String name, Supplier<String> why) {
        if (!roots.seesDevices()) {
            throw new PrepareException(
                    "Device node %s can't be checked: /dev of this program is a snapshot from when its container was created; mount the node's /dev and name it with --container-dev-root (charts: devRoot), or name /dev to use the snapshot"
                            .formatted(roots.deviceOnNode(name)));
        }
        if (!isThere(name)) {
            throw new PrepareException(
                    "Device node %s does not exist on the node; %s".formatted(roots.deviceOnNode(name), why.get()));
        }
    }

    boolean isThere(String name) {
        return Files.exists(roots.devices().resolve(name));
    }

    /** Adds nodes, and the groups that may open them if others may not. */
    void add(List<String> names, ContainerEdits.Builder edits) {
        TreeSet<Long> groups = new TreeSet<>();
        for (String name : names) {
            edits.deviceNode(node(name));
            addGroup(roots.devices().resolve(name), groups);
        }
        groups.forEach(edits::additionalGid);
    }

    /** Returns a device node, which has the same name on the node and in containers. */
    DeviceNode node(String name) {
        String inContainer = "/dev/" + name;
        String onNode = roots.deviceOnNode(name).toString();
        return onNode.equals(inContainer) ? DeviceNode.of(inContainer) : DeviceNode.of(inContainer, onNode);
    }

    private static void addGroup(Path node, TreeSet<Long> groups) {
        try {
            Map<String, Object> found = Files.readAttributes(node, "unix:gid,mode");
            int mode = (Integer) found.get("mode");
            long group = Integer.toUnsignedLong((Integer) found.get("gid"));
            if (group != 0 && (mode & OTHERS_READ_AND_WRITE) != OTHERS_READ_AND_WRITE) {
                groups.add(group);
            }
        } catch (IOException e) {
            throw new PrepareException("Can't read the group of device node " + node, e);
        }
    }
}
