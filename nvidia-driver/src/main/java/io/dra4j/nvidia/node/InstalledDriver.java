// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.Installation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * NVIDIA's driver below its root, and its module in the kernel.
 *
 * <p>The kernel gives the module's directory in sysfs a new inode each time it loads the module. An unloaded module
 * also counts as a different load: earlier settings and instances have ended.
 */
public record InstalledDriver(DriverFinder driver, Path sysfs, Path proc) implements Installation {

    @Override
    public Path library() {
        return driver.findNvml();
    }

    @Override
    public String fingerprint() {
        return libraryKey() + " " + moduleLoad();
    }

    private String libraryKey() {
        try {
            Path file = driver.findNvml();
            return file + " " + Files.readAttributes(file, "unix:ino,ctime");
        } catch (DraException | IOException e) {
            return "none";
        }
    }

    @Override
    public String moduleLoad() {
        try {
            String boot =
                    Files.readString(proc.resolve("sys/kernel/random/boot_id")).strip();
            Path modules = sysfs.resolve("module");
            boolean isUnloaded = Files.isDirectory(modules) && Files.notExists(modules.resolve("nvidia"));
            return boot + "/" + (isUnloaded ? "not loaded" : Files.getAttribute(modules.resolve("nvidia"), "unix:ino"));
        } catch (IOException e) {
            return "";
        }
    }
}
