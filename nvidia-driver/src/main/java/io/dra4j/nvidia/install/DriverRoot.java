// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.install;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.prepare.LibraryFolders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
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

    private static final List<String> PROGRAMS = List.of("opt/bin", "usr/bin", "usr/sbin", "bin", "sbin");
    private static final int MOST_LINKS = 8;

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
     * empty, or a link to one. The loader's cache is read if no usual folder has it.
     *
     * @throws DraException if there is none
     */
    Path findNvml() {
        return find("libnvidia-ml.so.1")
                .orElseThrow(
                        () -> new DraException(notFound(candidates(LibraryFolders.usual(path), "libnvidia-ml.so.1"))));
    }

    /**
     * Finds a library that another package of NVIDIA's has.
     *
     * @throws DraException if there is none
     */
    Path findLibrary(String name) {
        return find(name)
                .orElseThrow(
                        () -> new DraException("%s is not found below %s; install its package".formatted(name, path)));
    }

    private Optional<Path> find(String name) {
        return firstUsable(candidates(LibraryFolders.usual(path), name))
                .or(() -> firstUsable(candidates(LibraryFolders.cached(path), name)));
    }

    private static List<Path> candidates(List<Path> folders, String name) {
        return folders.stream().map(folder -> folder.resolve(name)).toList();
    }

    private static Optional<Path> firstUsable(List<Path> candidates) {
        return candidates.stream().filter(DriverRoot::isUsable).findFirst();
    }

    private static boolean isUsable(Path file) {
        return Files.isRegularFile(file)
                && Files.isReadable(file)
                && file.toFile().length() > 0;
    }

    private String notFound(List<Path> candidates) {
        return "No NVIDIA driver below %s: none of %s is a readable file, and the loader's cache has no other; install the driver, or set the driver root to the directory where it is mounted"
                .formatted(path, candidates.stream().map(Path::toString).collect(Collectors.joining(", ")));
    }

    /**
     * Finds a program of the driver: an executable file, or a link to one, whose target is looked
     * for below the root.
     *
     * @throws DraException if there is none
     */
    Path findProgram(String name) {
        return PROGRAMS.stream()
                .map(folder -> target(path.resolve(folder).resolve(name)))
                .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                .findFirst()
                .orElseThrow(
                        () -> new DraException("%s is not found below %s, in none of %s; install the driver's programs"
                                .formatted(name, path, String.join(", ", PROGRAMS))));
    }

    /** Links of alternatives name files of the node, which are elsewhere for this process. */
    private Path target(Path file) {
        Path found = file;
        for (int links = 0; links < MOST_LINKS && Files.isSymbolicLink(found); links++) {
            try {
                Path target = Files.readSymbolicLink(found);
                found = target.isAbsolute()
                        ? path.resolve(Path.of("/").relativize(target))
                        : found.resolveSibling(target);
            } catch (IOException e) {
                return file;
            }
        }
        return found;
    }
}
