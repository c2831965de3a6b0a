// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** An inode. */
abstract sealed class Node permits Node.Directory, RegularFile {

    final int inode;
    final boolean isTemporary; // on a file system that a reboot empties
    int permissions;
    FileTime modified;
    int links; // names that processes see
    int durableLinks;
    int opens; // channels
    final List<DiskLock> locks = new ArrayList<>(0); // of all processes

    Node(int inode, boolean isTemporary, int permissions, FileTime modified) {
        this.inode = inode;
        this.isTemporary = isTemporary;
        this.permissions = permissions;
        this.modified = modified;
    }

    /** Returns whether a process can reach it. */
    boolean isUsed() {
        return links + opens > 0;
    }

    /** Returns the bytes that it takes on the disk. */
    long space() {
        return 0;
    }

    static final class Directory extends Node {

        final Map<String, Node> entries = new TreeMap<>();
        final Map<String, Node> durable = new TreeMap<>();

        Directory(int inode, boolean isTemporary, int permissions, FileTime modified) {
            super(inode, isTemporary, permissions, modified);
        }
    }

    /** A name that a directory gets, or loses if there is no node. */
    record Entry(Directory directory, String name, @Nullable Node node) {}
}
