// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.inventory;

import io.dra4j.nvidia.nvml.PciAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The kernel's information on PCI devices; empty if it is missing or can't be read.
 *
 * @param root the mount point of sysfs, {@code /sys} on a node
 */
record Sysfs(Path root) {

    private static final Pattern ROOT = Pattern.compile("pci[0-9a-f]{4,8}:[0-9a-f]{2}");

    /** Returns the root complex of a device, {@code pci0000:00}. */
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

    /** Returns the NUMA node of a device. */
    Optional<Long> numaNode(PciAddress device) {
        try {
            long node =
                    Long.parseLong(Files.readString(folder(device).resolve("numa_node")).strip());
            return node >= 0 ? Optional.of(node) : Optional.empty();
        } catch (IOException | NumberFormatException e) {
            return Optional.empty();
        }
    }

    private Path folder(PciAddress device) {
        return root.resolve("bus/pci/devices").resolve(device.text());
    }
}
