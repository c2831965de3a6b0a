// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.Installation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * NVIDIA's driver below its root, and its module in the kernel.
 *
 * <p>The kernel gives the module's directory in sysfs a new inode each time it loads the module. An unloaded module
 * also counts as a different load: earlier settings and instances have ended.
 *
 * <p>A search may read the configuration and the cache of the loader. So there is one when the found library or the
 * module's load has changed, and otherwise only at intervals.
 */
public final class InstalledDriver implements Installation {

    private static final long PAUSE_IF_FOUND = SECONDS.toNanos(30);
    private static final long PAUSE_IF_MISSING = SECONDS.toNanos(1);

    private final DriverFinder driver;
    private final Path sysfs;
    private final Path proc;

    // All guarded by this.
    private @Nullable Path found;
    private String known = "";
    private long searched;

    public InstalledDriver(DriverFinder driver, Path sysfs, Path proc) {
        this.driver = driver;
        this.sysfs = sysfs;
        this.proc = proc;
    }

    @Override
    public synchronized Path library() {
        fingerprint();
        if (found == null) {
            found = driver.findNvml();
        }
        return found;
    }

    @Override
    public synchronized String fingerprint() {
        String load = moduleLoad();
        String now = libraryKey() + " " + load;
        boolean isLongAgo = System.nanoTime() - searched >= (found == null ? PAUSE_IF_MISSING : PAUSE_IF_FOUND);
        if (isLongAgo || !now.equals(known)) {
            search();
            known = libraryKey() + " " + load;
        }
        return known;
    }

    private void search() {
        searched = System.nanoTime();
        try {
            found = driver.findNvml();
        } catch (DraException e) {
            found = null;
        }
    }

    private String libraryKey() {
        try {
            return found == null ? "none" : found + " " + Files.readAttributes(found, "unix:ino,ctime");
        } catch (IOException e) {
            found = null;
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
