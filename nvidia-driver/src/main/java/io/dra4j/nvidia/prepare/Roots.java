// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Where the driver is installed, as this process sees it and as the node does.
 *
 * @param here below which this process finds the driver's files
 * @param onNode the same directory on the node, which CDI specs name
 * @param dev where device nodes are, on the node and here; null to look for them: below the driver
 *     root, if its {@code dev} has the driver's control node, and in {@code /dev} otherwise
 * @param proc where this process finds procfs
 * @param sysfs where this process finds sysfs
 */
public record Roots(Path here, Path onNode, @Nullable Path dev, Path proc, Path sysfs) {

    /** The node through which every program finds the driver. */
    static final String CONTROL = "nvidiactl";

    private static final Path DEV = Path.of("/dev");

    /** The path on the node of a file that was found below the driver root. */
    Path onNode(Path found) {
        return onNode.resolve(here.relativize(found));
    }

    /** The path in a container of a file that was found below the driver root. */
    Path inContainer(Path found) {
        return Path.of("/").resolve(here.relativize(found));
    }

    /** Where this process finds device nodes now: a driver container makes them when it is up. */
    Path devices() {
        if (dev != null) {
            return dev;
        }
        return hasOwnDevices() ? here.resolve("dev") : DEV;
    }

    /** Where the node has a device node, which in containers is always in {@code /dev}. */
    Path deviceOnNode(String name) {
        if (dev != null) {
            return dev.resolve(name);
        }
        return (hasOwnDevices() ? onNode.resolve("dev") : DEV).resolve(name);
    }

    private boolean hasOwnDevices() {
        return Files.exists(here.resolve("dev").resolve(CONTROL));
    }

    /** Where this process sees a file of the node; empty if it does not. */
    Optional<Path> seen(Path file) {
        if (here.equals(onNode)) {
            return Optional.of(file);
        }
        Path root = Path.of("/");
        return onNode.equals(root)
                ? Optional.of(here.resolve(root.relativize(file)))
                : Optional.empty();
    }
}
