// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.node;

import io.dra4j.api.error.DraException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The directory below which the NVIDIA driver is installed, as this process and as the node sees it.
 *
 * <p>It is {@code /} on a node whose driver was installed by package, and the mount point of the node's root or of a
 * driver container otherwise. Links lead to files below it: an absolute one names a file of the node. Each call reads
 * the file system: a driver may be installed after this process started.
 *
 * @param here the directory as this process sees it, absolute; it need not exist yet
 * @param onNode the same directory on the node, which CDI specs name
 * @param libraries more folders of libraries on the node, which are searched first
 * @param programs more folders of programs on the node, which are searched first
 */
public record DriverRoot(Path here, Path onNode, List<Path> libraries, List<Path> programs) {

    static final Path SLASH = Path.of("/");

    /** Checks that the path is absolute, as paths in CDI specs have to be. */
    public DriverRoot {
        if (!here.isAbsolute()) {
            throw new DraException("The driver root must be an absolute path, not " + here);
        }
        libraries = List.copyOf(libraries);
        programs = List.copyOf(programs);
    }

    public DriverRoot(Path here, Path onNode) {
        this(here, onNode, List.of(), List.of());
    }

    /**
     * Returns the path in a container of a file below the root. Loaders look for Vulkan's files in
     * {@code /etc}, not in a root that contains only the driver.
     */
    public Path inContainer(Path found) {
        Path below = here.relativize(found);
        return Path.of(below.startsWith("vulkan") ? "/etc" : "/").resolve(below);
    }

    /** Returns where a path of the node is below the root, as this process sees it. */
    Path ofNode(Path path) {
        if (!path.isAbsolute()) {
            return here.resolve(path);
        }
        return here.resolve((path.startsWith(onNode) ? onNode : SLASH).relativize(path));
    }

    /** Returns the folders of programs, which need not exist. */
    List<Path> programFolders() {
        return Stream.concat(
                        programs.stream().map(this::ofNode),
                        Places.PROGRAMS.stream().map(here::resolve))
                .toList();
    }
}
