// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigDevice;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The device nodes of a GPU, and of a MIG device. */
final class GpuEdits {

    private final Roots roots;

    GpuEdits(Roots roots) {
        this.roots = roots;
    }

    ContainerEdits whole(Gpu gpu) {
        ContainerEdits.Builder edits = ContainerEdits.builder();
        nodes(gpu).forEach(edits::deviceNode);
        return edits.build();
    }

    /** Returns the nodes of the GPU, and the two capabilities that they need. */
    ContainerEdits mig(Gpu gpu, MigDevice device) {
        ContainerEdits.Builder edits = ContainerEdits.builder();
        nodes(gpu).forEach(edits::deviceNode);
        Capabilities capabilities = new Capabilities(roots.proc());
        String instance = "gpu%d/mig/gi%d".formatted(gpu.minor(), device.gpuInstance());
        edits.deviceNode(capabilities.node(instance + "/access"));
        edits.deviceNode(
                capabilities.node(instance + "/ci" + device.computeInstance() + "/access"));
        return edits.build();
    }

    private List<DeviceNode> nodes(Gpu gpu) {
        String name = "nvidia" + gpu.minor();
        Path node = roots.devices().resolve(name);
        if (!Files.exists(node)) {
            throw new PrepareException(
                    "Device node %s of %s not found: run nvidia-modprobe, or see the kernel's log"
                            .formatted(node, gpu.uuid()));
        }
        List<DeviceNode> nodes = new ArrayList<>();
        nodes.add(CommonEdits.nodeOf(roots, name));
        for (String display : displays(gpu)) {
            nodes.add(CommonEdits.nodeOf(roots, "dri/" + display));
        }
        return nodes;
    }

    /** Returns {@code card1} and {@code renderD128}, if they exist. */
    private List<String> displays(Gpu gpu) {
        Path folder = roots.sysfs().resolve("bus/pci/devices").resolve(gpu.pci().text() + "/drm");
        try (DirectoryStream<Path> found =
                Files.newDirectoryStream(folder, "{card,renderD}[0-9]*")) {
            List<String> names = new ArrayList<>();
            found.forEach(each -> names.add(each.getFileName().toString()));
            return names.stream()
                    .filter(name -> Files.exists(roots.devices().resolve("dri").resolve(name)))
                    .sorted()
                    .toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException | DirectoryIteratorException e) {
            throw new PrepareException("Can't list " + folder, e);
        }
    }
}
