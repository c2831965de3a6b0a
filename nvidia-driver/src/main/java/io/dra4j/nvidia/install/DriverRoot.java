// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.install;

import io.dra4j.api.error.DraException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The directory below which the NVIDIA driver is installed, as this process sees it.
 *
 * <p>It is {@code /} on a node whose driver was installed by package, and the mount point of the
 * node's root or of a driver container otherwise. Each call reads the file system: a driver may be
 * installed after this process started.
 *
 * @param path the directory, absolute; it need not exist yet
 */
record DriverRoot(Path path) {

    /** The usual directories of the library; those that hold only 64-bit libraries come first. */
    private static final List<String> DIRECTORIES =
            List.of(
                    "usr/lib64",
                    "usr/lib/x86_64-linux-gnu",
                    "usr/lib/aarch64-linux-gnu",
                    "lib64",
                    "lib/x86_64-linux-gnu",
                    "lib/aarch64-linux-gnu");

    /**
     * Checks that the path is absolute, as paths in CDI specs have to be.
     *
     * @throws DraException if the path is relative
     */
    DriverRoot {
        if (!path.isAbsolute()) {
            throw new DraException("The driver root must be an absolute path, not " + path);
        }
    }

    /**
     * Finds NVML, the library of the driver's management interface: a readable file that is not
     * empty, or a link to one.
     *
     * @throws DraException if there is none
     */
    Path findNvml() {
        List<Path> candidates =
                DIRECTORIES.stream()
                        .map(directory -> path.resolve(directory).resolve("libnvidia-ml.so.1"))
                        .toList();
        return candidates.stream()
                .filter(DriverRoot::isUsable)
                .findFirst()
                .orElseThrow(() -> new DraException(notFound(candidates)));
    }

    private static boolean isUsable(Path file) {
        return Files.isRegularFile(file) && Files.isReadable(file) && file.toFile().length() > 0;
    }

    private String notFound(List<Path> candidates) {
        return "No NVIDIA driver below %s: none of %s is a readable file; install the driver, or set the driver root to the directory where it is mounted"
                .formatted(
                        path,
                        candidates.stream().map(Path::toString).collect(Collectors.joining(", ")));
    }
}
