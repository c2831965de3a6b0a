// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import io.dra4j.simulation.disk.Node.Directory;
import io.dra4j.simulation.disk.Node.Entry;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The end of a path: the directories from the root, and the node with the last name.
 *
 * @param name "." if the path is that of the last directory itself
 * @param node {@code null} if the name is free
 */
record Place(
        List<Directory> directories, String name, @Nullable Node node) {

    static final String NOT_A_DIRECTORY = "Not a directory";

    /** Follows an absolute path; one that ends in a missing directory is an error. */
    static Place of(Directory root, String path) throws FileSystemException {
        List<Directory> directories = new ArrayList<>(8);
        directories.add(root);
        int slash = 0;
        while (true) {
            int end = path.indexOf('/', slash + 1);
            String name = path.substring(slash + 1, end < 0 ? path.length() : end);
            Directory directory = directories.get(directories.size() - 1);
            if (name.equals("..")) {
                directories
                        .subList(Math.max(1, directories.size() - 1), directories.size())
                        .clear();
            } else if (!name.equals(".") && !name.isEmpty()) {
                Node node = directory.entries.get(name);
                if (end < 0) {
                    return new Place(directories, name, node);
                }
                directories.add(directory(path, node));
            }
            if (end < 0) {
                return new Place(directories, ".", directories.get(directories.size() - 1));
            }
            slash = end;
        }
    }

    private static Directory directory(String path, @Nullable Node node) throws FileSystemException {
        if (node instanceof Directory directory) {
            return directory;
        }
        throw node == null ? new NoSuchFileException(path) : new FileSystemException(path, null, NOT_A_DIRECTORY);
    }

    Directory directory() {
        return directories.get(directories.size() - 1);
    }

    Node existing(String path) throws NoSuchFileException {
        if (node == null) {
            throw new NoSuchFileException(path);
        }
        return node;
    }

    Entry with(@Nullable Node other) {
        return new Entry(directory(), name, other);
    }
}
