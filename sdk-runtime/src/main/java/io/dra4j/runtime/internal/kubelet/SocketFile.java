// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * A socket's file, which appears at once with its final mode and disappears only if it is ours.
 *
 * <p>The server binds a hidden name, which the kubelet passes over; a rename then publishes it. A
 * file that another process put at the path since is recognized by its inode and left alone.
 */
final class SocketFile {

    private static final int SOCKET = 0140000;
    private static final int FILE_TYPE = 0170000;

    private final Path path;
    private final Path hidden;
    private Object inode = "none";

    /**
     * Checks that the socket can be there.
     *
     * @param hidden a name beside the path
     * @throws DraException if there is no directory for it, or something that is no socket is there
     */
    SocketFile(Path path, Path hidden) {
        this.path = path;
        this.hidden = hidden;
        if (!Files.isDirectory(path.getParent())) {
            throw new DraException(("There is no directory %s for the socket %s; name the kubelet's directory, "
                            + "mounted at the same path as on the host")
                    .formatted(path.getParent(), path.getFileName()));
        }
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS) && !isSocket(path)) {
            throw new DraException(
                    "Something that is no socket is at the path of the driver's socket, " + path + "; remove it");
        }
    }

    /** Returns the path that the server binds. */
    Path hidden() {
        return hidden;
    }

    /** Gives the bound socket its mode: only the owner may call, even before it is published. */
    void protect() {
        try {
            Files.setPosixFilePermissions(hidden, PosixFilePermissions.fromString("rw-------"));
        } catch (IOException e) {
            throw new DraException("Can't set the mode of the socket " + hidden + ": " + e, e);
        }
    }

    /** Gives the bound socket its name, in place of a stale one. */
    void publish() {
        try {
            Files.deleteIfExists(path); // the kubelet notices a socket that goes and comes
            Files.move(hidden, path, StandardCopyOption.ATOMIC_MOVE);
            inode = inode(path);
        } catch (IOException e) {
            throw new DraException("Can't publish the socket " + path + ": " + e, e);
        }
    }

    /** Removes the file if it is still the one that was published. */
    void remove() {
        try {
            Files.deleteIfExists(hidden);
            if (inode.equals(inode(path))) {
                Files.delete(path);
            }
        } catch (NoSuchFileException e) {
            // removed already
        } catch (IOException e) {
            throw new DraException("Can't remove the socket " + path + ": " + e, e);
        }
    }

    static Object inode(Path path) throws IOException {
        return Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS);
    }

    static boolean isSocket(Path path) {
        try {
            Object mode = Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            return ((int) mode & FILE_TYPE) == SOCKET;
        } catch (IOException e) {
            throw new DraException("Can't read the type of " + path + ": " + e, e);
        }
    }
}
