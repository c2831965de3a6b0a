// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Directories of the node that the driver's container has mounted.
 *
 * <p>One that is deleted on the node stays mounted, empty, and no file can be made in it, also when
 * the node has a new one of that name: the container must be made again.
 */
record MountedDirectories(List<Path> paths) {

    /** Returns a sentence about one that is deleted, if one is. */
    Optional<String> deleted() {
        return paths.stream()
                .filter(MountedDirectories::isDeleted)
                .findFirst()
                .map(path -> "The directory " + path + " was deleted on the node, and a new one is not mounted here");
    }

    /** A directory that has a name has a link. */
    private static boolean isDeleted(Path path) {
        try {
            return Files.getAttribute(path, "unix:nlink") instanceof Integer links && links == 0;
        } catch (IOException e) {
            return false; // not there: it is made again
        }
    }
}
