// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.nvidia.node.Listing;
import io.dra4j.nvidia.node.Roots;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.MigDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The device nodes of a GPU, and of a MIG device. */
final class GpuEdits {

    private final Roots roots;
    private final HookProgram program;
    private final DeviceNodes nodes;

    GpuEdits(Roots roots, HookProgram program) {
        this.roots = roots;
        this.program = program;
        this.nodes = new DeviceNodes(roots);
    }

    ContainerEdits whole(Gpu gpu) {
        return edits(gpu).build();
    }

    /** Returns the nodes of the GPU, and the two capabilities that they need. */
    ContainerEdits mig(Gpu gpu, MigDevice device) {
        ContainerEdits.Builder edits = edits(gpu);
        Capabilities capabilities = new Capabilities(roots.proc());
        String instance = "gpu%d/mig/gi%d".formatted(gpu.minor(), device.gpuInstance());
        edits.deviceNode(capabilities.node(instance + "/access"));
        edits.deviceNode(capabilities.node(instance + "/ci" + device.computeInstance() + "/access"));
        return edits.build();
    }

    private ContainerEdits.Builder edits(Gpu gpu) {
        nodes.require(gpu);
        ContainerEdits.Builder edits = ContainerEdits.builder();
        List<String> displays = displays(gpu);
        List<String> names = new ArrayList<>(List.of("nvidia" + gpu.minor()));
        displays.forEach(display -> names.add("dri/" + display));
        nodes.add(names, edits);
        List<String> links = byPath(gpu, displays);
        if (!links.isEmpty()) {
            edits.hook(program.links(links));
        }
        return edits;
    }

    /** Returns {@code card1} and {@code renderD128}, if they exist. */
    private List<String> displays(Gpu gpu) {
        Path folder = roots.sysfs().resolve("bus/pci/devices").resolve(gpu.pci().text() + "/drm");
        return Listing.of(folder, "{card,renderD}[0-9]*")
                .map(each -> each.getFileName().toString())
                .filter(name -> nodes.isThere("dri/" + name))
                .toList();
    }

    /** Returns the links by PCI address, as the node has them, to the display nodes. */
    private List<String> byPath(Gpu gpu, List<String> displays) {
        Path folder = roots.devices().resolve("dri/by-path");
        return Stream.of("card", "render")
                .map(kind -> folder.resolve("pci-" + gpu.pci().text() + "-" + kind))
                .filter(Files::isSymbolicLink)
                .flatMap(link -> displays.stream()
                        .filter(name -> leadsTo(link, name))
                        .map(name -> "../%s::/dev/dri/by-path/%s".formatted(name, link.getFileName())))
                .toList();
    }

    private static boolean leadsTo(Path link, String display) {
        try {
            return Files.readSymbolicLink(link).endsWith(display);
        } catch (IOException e) {
            return false; // it was removed meanwhile
        }
    }
}
