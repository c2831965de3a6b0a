// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.PciAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * What the kernel knows of a PCI device. What it does not know, or what cannot be read, is empty.
 *
 * @param root where sysfs is mounted, {@code /sys} on a node
 */
record Sysfs(Path root) {

    private static final Pattern ROOT = Pattern.compile("pci[0-9a-f]{4,8}:[0-9a-f]{2}");

    /** The root complex that a device hangs on, {@code pci0000:00}. */
    Optional<String> pcieRoot(PciAddress device) {
        try {
            Path target = Files.readSymbolicLink(folder(device));
            for (Path part : target) {
                if (ROOT.matcher(part.toString()).matches()) {
                    return Optional.of(part.toString());
                }
            }
            return Optional.empty();
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.empty();
        }
    }

    /** The NUMA node that a device is next to. */
    OptionalInt numaNode(PciAddress device) {
        try {
            int node =
                    Integer.parseInt(Files.readString(folder(device).resolve("numa_node")).strip());
            return node >= 0 ? OptionalInt.of(node) : OptionalInt.empty();
        } catch (IOException | NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    private Path folder(PciAddress device) {
        return root.resolve("bus/pci/devices").resolve(device.text());
    }
}
