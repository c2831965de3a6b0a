// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The directories of the driver and the kernel, as this process sees them and as the node does.
 *
 * @param dev the folder of device nodes, if it is not {@code dev} in the driver root
 */
public record Roots(DriverRoot driver, DeviceFolder dev, Path proc, Path sysfs) {

    /** The device node that every program opens first. */
    public static final String CONTROL = "nvidiactl";

    /** Returns the directory of device nodes now: a driver container creates them when it runs. */
    public Path devices() {
        return isInDriverRoot() ? inDriverRoot() : dev.here();
    }

    /** Returns the path on the node of a device node, which in containers is in {@code /dev}. */
    public Path deviceOnNode(String name) {
        Path folder = isInDriverRoot() ? driver.onNode().resolve("dev") : dev.onNode();
        return folder.resolve(name);
    }

    /** Returns whether nodes created later are visible: a container has its own copy. */
    public boolean seesDevices() {
        return dev.isLive() || isInDriverRoot();
    }

    private Path inDriverRoot() {
        return driver.here().resolve("dev");
    }

    /** If the root is the node's, so is its {@code dev}, even when empty. */
    private boolean isInDriverRoot() {
        if (dev.isGiven()) {
            return false;
        }
        boolean isOfNode =
                driver.onNode().equals(DriverRoot.SLASH) && !driver.here().equals(DriverRoot.SLASH);
        return isOfNode
                ? Files.isDirectory(inDriverRoot())
                : Files.exists(inDriverRoot().resolve(CONTROL));
    }

    /** Returns the path of a node's file as this process sees it; empty if it does not see it. */
    public Optional<Path> seen(Path file) {
        if (driver.here().equals(driver.onNode())) {
            return Optional.of(file);
        }
        return driver.onNode().equals(DriverRoot.SLASH)
                ? Optional.of(new DriverView(driver).end(driver.ofNode(file)))
                : Optional.empty();
    }
}
