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
            Path file = driver.findNvml().toRealPath();
            return file + " " + attribute(file, "ino") + " " + attribute(file, "ctime");
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
            return boot + "/" + (isUnloaded ? "not loaded" : attribute(modules.resolve("nvidia"), "ino"));
        } catch (IOException e) {
            return "";
        }
    }

    private static String attribute(Path file, String name) throws IOException {
        return String.valueOf(Files.getAttribute(file, "unix:" + name));
    }
}
