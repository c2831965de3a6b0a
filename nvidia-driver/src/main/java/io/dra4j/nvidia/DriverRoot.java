// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.nvml.Nvml;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The directory below which the NVIDIA driver is installed, as this process sees it.
 *
 * <p>It is {@code /} on a node whose driver came by package, and the place where the node's root or
 * a driver container is mounted otherwise. The object reads the file system on each call and keeps
 * nothing: a driver may be installed after this process began.
 *
 * @param path the directory, absolute; it need not exist yet
 */
record DriverRoot(Path path) {

    private static final String NVML = "libnvidia-ml.so.1";

    /** Where distributions put the library, those first that hold 64-bit libraries alone. */
    private static final List<String> DIRECTORIES =
            List.of(
                    "usr/lib64",
                    "usr/lib/x86_64-linux-gnu",
                    "usr/lib/aarch64-linux-gnu",
                    "lib64",
                    "lib/x86_64-linux-gnu",
                    "lib/aarch64-linux-gnu");

    /**
     * Checks that the path is absolute: it goes into CDI specs, which know no current directory.
     *
     * @throws IllegalArgumentException if the path is relative
     */
    DriverRoot {
        if (!path.isAbsolute()) {
            throw new IllegalArgumentException(
                    "The driver root must be an absolute path, not " + path);
        }
    }

    /**
     * Looks for NVML, the library through which the driver is spoken to.
     *
     * <p>A file is only found if it can be read and is not empty; a link whose target is not below
     * a mounted root is none.
     */
    LibrarySearch findNvml() {
        List<Path> candidates = candidates();
        Stream<Path> usable = candidates.stream().filter(DriverRoot::isUsable);
        return usable.findFirst()
                .<LibrarySearch>map(LibrarySearch.Found::new)
                .orElseGet(() -> new LibrarySearch.NotFound(this, candidates));
    }

    /**
     * Opens NVML.
     *
     * @throws DraException if it is not there, or the driver does not answer; says which, and what
     *     to do
     */
    Nvml openNvml() {
        LibrarySearch search = findNvml();
        if (search instanceof LibrarySearch.Found found) {
            return Nvml.open(found.library());
        }
        throw new DraException(((LibrarySearch.NotFound) search).message());
    }

    private List<Path> candidates() {
        return DIRECTORIES.stream()
                .map(directory -> path.resolve(directory).resolve(NVML))
                .toList();
    }

    private static boolean isUsable(Path file) {
        return Files.isRegularFile(file) && Files.isReadable(file) && file.toFile().length() > 0;
    }
}
