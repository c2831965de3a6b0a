// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

/**
 * One operation of a process on its disk.
 *
 * @param target the new name of a rename, or of a link; else empty
 * @param bytes how many bytes to read or write, or the length after a truncate; else 0
 */
public record DiskOperation(Kind kind, String path, String target, long bytes) {

    /** The kinds of operations; closing a file is not one, because it can't fail. */
    public enum Kind {
        STAT,
        LIST,
        OPEN,
        /** An open that creates the file if it does not exist. */
        CREATE,
        READ,
        WRITE,
        TRUNCATE,
        SYNC,
        LOCK,
        UNLOCK,
        MAKE_DIRECTORY,
        RENAME,
        DELETE,
        LINK,
        SET_PERMISSIONS
    }

    @Override
    public String toString() {
        return kind + " " + path + (target.isEmpty() ? "" : " -> " + target) + (bytes == 0 ? "" : " " + bytes);
    }
}
