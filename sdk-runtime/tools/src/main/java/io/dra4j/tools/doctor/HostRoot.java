// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.doctor;

import io.dra4j.doctor.NotCheckedException;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The node's root directory, as far as it is visible to this program.
 *
 * @param path where it is; null if it is not visible
 */
public record HostRoot(@Nullable Path path) {

    private static final String IN_A_POD = "KUBERNETES_SERVICE_HOST";
    private static final int MOST_LINKS = 40; // as Linux follows

    /**
     * Finds the root: the given one if it exists, or this program's own outside a pod, or that of the node's first
     * process, which is visible in a pod with hostPID.
     */
    public static HostRoot of(@Nullable Path given, Path procRoot, Map<String, String> environment) {
        if (given != null) {
            return new HostRoot(Files.isDirectory(given) ? given : null);
        }
        if (environment.get(IN_A_POD) == null) {
            return new HostRoot(Path.of("/"));
        }
        Path first = procRoot.resolve("1");
        boolean isOther = !mounts(first).equals(mounts(procRoot.resolve("self")));
        Path root = first.resolve("root");
        return new HostRoot(isOther && Files.isDirectory(root.resolve("etc")) ? root : null);
    }

    /** The mount namespace of a process; empty if it can't be read. */
    private static String mounts(Path process) {
        try {
            return Files.readSymbolicLink(process.resolve("ns/mnt")).toString();
        } catch (IOException e) {
            return "";
        }
    }

    /**
     * Returns where a file of the node is.
     *
     * @throws NotCheckedException if the node's root is not visible
     */
    Path file(String absolute) {
        if (path == null) {
            throw new NotCheckedException(
                    "this pod does not see the node's files: run it on the node, or give --host-root");
        }
        return followed(path, Path.of(absolute), MOST_LINKS);
    }

    /** Follows links from the node's root, as the node does: an absolute one would lead out of it. */
    private static Path followed(Path root, Path absolute, int links) {
        Path folder = absolute.getRoot();
        for (int i = 0; i < absolute.getNameCount(); i++) {
            Path next = folder.resolve(absolute.getName(i)).normalize(); // the folder is at the end of its links
            Optional<Path> target = links == 0 ? Optional.empty() : target(inRoot(root, next));
            if (target.isPresent()) {
                Path whole = folder.resolve(target.get());
                for (int j = i + 1; j < absolute.getNameCount(); j++) {
                    whole = whole.resolve(absolute.getName(j));
                }
                return followed(root, whole, links - 1);
            }
            folder = next;
        }
        return inRoot(root, folder);
    }

    private static Path inRoot(Path root, Path absolute) {
        return root.resolve(absolute.getRoot().relativize(absolute));
    }

    private static Optional<Path> target(Path file) {
        try {
            return Files.isSymbolicLink(file) ? Optional.of(Files.readSymbolicLink(file)) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Returns the files of a folder whose names match a glob, sorted, as paths of the node. */
    List<String> files(String folder, String glob) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(file(folder), glob)) {
            List<String> found = new ArrayList<>();
            files.forEach(one -> found.add(folder + "/" + one.getFileName()));
            found.removeIf(file -> !exists(file));
            Collections.sort(found);
            return found;
        } catch (IOException | DirectoryIteratorException e) {
            return List.of();
        }
    }

    boolean exists(String absolute) {
        return Files.isRegularFile(file(absolute));
    }

    String read(String absolute) {
        try {
            return Files.readString(file(absolute));
        } catch (IOException e) {
            throw new NotCheckedException("%s can't be read: %s".formatted(absolute, e), e);
        }
    }
}
