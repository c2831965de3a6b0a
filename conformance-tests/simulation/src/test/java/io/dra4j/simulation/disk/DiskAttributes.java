// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import io.dra4j.simulation.disk.Node.Directory;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Collection;

/** The attributes of an inode at one time. */
record DiskAttributes(
        FileKey fileKey,
        int mode,
        int links,
        long size,
        FileTime lastModifiedTime,
        FileTime lastAccessTime,
        FileTime creationTime,
        boolean isDirectory,
        boolean isRegularFile,
        boolean isSymbolicLink,
        boolean isOther)
        implements BasicFileAttributes {

    private static final int UMASK = 022;

    /** The identity of a file while it exists; a later one may get the number. */
    private record FileKey(boolean isTemporary, long inode) {}

    static DiskAttributes of(Node node) {
        FileKey key = new FileKey(node.isTemporary, node.inode);
        FileTime time = node.modified;
        if (node instanceof RegularFile file) {
            int mode = 0100000 | node.permissions;
            return new DiskAttributes(
                    key, mode, node.links, file.length(), time, time, time, false, true, false, false);
        }
        long children = ((Directory) node)
                .entries.values().stream().filter(Directory.class::isInstance).count();
        int links = (int) children + 2;
        return new DiskAttributes(
                key, 0040000 | node.permissions, links, RegularFile.PAGE, time, time, time, true, false, false, false);
    }

    /** Returns the permissions of something new. */
    static int mode(int ofDefault, FileAttribute<?>... attributes) {
        int mode = ofDefault;
        for (FileAttribute<?> attribute : attributes) {
            if (!(attribute.name().equals("posix:permissions") && attribute.value() instanceof Collection<?> given)) {
                throw DiskFileSystem.unsupported("attribute " + attribute.name());
            }
            mode = mode(given);
        }
        return mode & ~UMASK;
    }

    static int mode(Collection<?> permissions) {
        return permissions.stream()
                .mapToInt(permission -> 0400 >> ((PosixFilePermission) permission).ordinal())
                .sum();
    }

    Object named(String name) {
        return switch (name) {
            case "ino" -> fileKey.inode;
            case "mode" -> mode;
            case "nlink" -> links;
            default -> throw DiskFileSystem.unsupported("attribute " + name);
        };
    }
}
