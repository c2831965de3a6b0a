// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The directories of the driver and the kernel, as this process sees them and as the node does.
 *
 * @param here the driver root as this process sees it
 * @param onNode the same directory on the node, which CDI specs name
 * @param dev the directory of device nodes, on the node and here; null for {@code dev} in the
 *     driver root if it has the driver's control node, and {@code /dev} otherwise
 * @param proc procfs as this process sees it
 * @param sysfs sysfs as this process sees it
 */
public record Roots(Path here, Path onNode, @Nullable Path dev, Path proc, Path sysfs) {

    /** The device node that every program opens first. */
    static final String CONTROL = "nvidiactl";

    private static final Path DEV = Path.of("/dev");

    /** Returns the path on the node of a file below the driver root. */
    Path onNode(Path found) {
        return onNode.resolve(here.relativize(found));
    }

    /**
     * Returns the path in a container of a file below the driver root. Loaders look for Vulkan's
     * files in {@code /etc}, not in a root that has nothing but the driver.
     */
    Path inContainer(Path found) {
        Path below = here.relativize(found);
        return Path.of(below.startsWith("vulkan") ? "/etc" : "/").resolve(below);
    }

    /** Returns where a path of the node is below the driver root, as this process sees it. */
    Path ofNode(Path path) {
        Path base = path.startsWith(onNode) ? onNode : Path.of("/");
        return here.resolve(base.relativize(path));
    }

    /** Returns the directory of device nodes now: a driver container creates them when it runs. */
    Path devices() {
        if (dev != null) {
            return dev;
        }
        return hasOwnDevices() ? here.resolve("dev") : DEV;
    }

    /** Returns the path on the node of a device node, which in containers is in {@code /dev}. */
    Path deviceOnNode(String name) {
        if (dev != null) {
            return dev.resolve(name);
        }
        return (hasOwnDevices() ? onNode.resolve("dev") : DEV).resolve(name);
    }

    private boolean hasOwnDevices() {
        return Files.exists(here.resolve("dev").resolve(CONTROL));
    }

    /** Returns the path of a node's file as this process sees it; empty if it does not see it. */
    Optional<Path> seen(Path file) {
        if (here.equals(onNode)) {
            return Optional.of(file);
        }
        Path root = Path.of("/");
        return onNode.equals(root) ? Optional.of(here.resolve(root.relativize(file))) : Optional.empty();
    }
}
