// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import io.dra4j.api.error.DraException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Finds the parts of the driver below its root that this process uses: NVML, and programs. */
public record DriverFinder(DriverRoot root) {

    private static final String NVML = "libnvidia-ml.so.1";

    /** Finds NVML, the library of the driver's management interface: a readable file that is not empty. */
    public Path findNvml() {
        return find(
                NVML,
                "No NVIDIA driver below %s: none of %s is a readable file, and the loader's cache has no other%s; install the driver, or set the driver root to the directory where it is mounted");
    }

    /** Finds a library from another NVIDIA package. */
    public Path findLibrary(String name) {
        return find(
                name,
                name
                        + " is not found below %s: none of %s is a readable file, and the loader's cache has no other%s; install its package");
    }

    private Path find(String name, String message) {
        DriverView driver = new DriverView(root);
        Map<Path, Boolean> known = new HashMap<>();
        Predicate<Path> isUsable = file -> known.computeIfAbsent(file, one -> isUsable(driver.end(one)));
        LibraryFolders folders = LibraryFolders.of(driver, List.of(name), isUsable);
        List<Path> candidates =
                folders.all().stream().map(folder -> folder.resolve(name)).toList();
        return candidates.stream()
                .filter(isUsable)
                .findFirst()
                .map(driver::end)
                .orElseThrow(
                        () -> new DraException(message.formatted(root.here(), joined(candidates), folders.problem())));
    }

    private static boolean isUsable(Path end) {
        return Files.isRegularFile(end) && Files.isReadable(end) && end.toFile().length() > 0;
    }

    private static String joined(List<Path> paths) {
        return paths.stream().map(Path::toString).collect(Collectors.joining(", "));
    }

    /** Finds a program of the driver: an executable file. */
    public Path findProgram(String name) {
        DriverView driver = new DriverView(root);
        return root.programFolders().stream()
                .map(folder -> driver.end(folder.resolve(name)))
                .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                .findFirst()
                .orElseThrow(() -> new DraException(
                        "%s is not found below %s in any of %s; install the driver's programs, or name their folder with --driver-program-folders"
                                .formatted(name, root.here(), joined(root.programFolders()))));
    }
}
