// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.observe.LogField;
import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A socket's file, which appears with its final mode and disappears only if it is ours.
 *
 * <p>The server binds a hidden name, which the kubelet ignores; a rename then publishes it. A
 * file that another process put at the path since is recognized by its inode and not touched.
 */
final class SocketFile {

    private static final Logger LOG = LoggerFactory.getLogger(SocketFile.class);
    private static final int SOCKET = 0140000;
    private static final int FILE_TYPE = 0170000;
    private static final int LONGEST_PATH = 106; // bytes that the JDK takes; the kernel takes 107
    private static final String NONE = "none";

    private final Path path;
    private final Path hidden;
    private Object inode = NONE;

    /**
     * Checks that the socket can be created.
     *
     * @param hidden a name next to the path
     * @throws DraException if its directory does not exist, or something that is not a socket is there, or a socket on
     *     which a process listens, or may listen: it is another driver's
     */
    SocketFile(Path path, Path hidden) {
        this.path = path;
        this.hidden = hidden;
        if (!Files.isDirectory(path.getParent())) {
            throw new DraException(("There is no directory %s for the socket %s; name the kubelet's directory, "
                            + "mounted at the same path as on the host")
                    .formatted(path.getParent(), path.getFileName()));
        }
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            requireSocket();
            requireDead();
        }
    }

    private void requireDead() {
        IOException failure = failureToConnect(path, hidden);
        if (failure == null) {
            throw new DraException(("Another driver listens on the socket %s; stop it first, or give each instance "
                            + "the UID of its own pod (podUid)")
                    .formatted(path));
        }
        if (!(failure instanceof ConnectException) && Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            throw new DraException(
                    "Can't see whether a driver listens on the socket %s (%s); remove the file if none runs"
                            .formatted(path, failure),
                    failure);
        }
    }

    private void requireSocket() {
        if (!isSocket(path)) {
            throw new DraException(
                    "A file that is not a socket is at the path of the driver's socket, " + path + "; remove it");
        }
    }

    /** Returns the path that the server binds. */
    Path hidden() {
        return hidden;
    }

    /** Sets the bound socket's mode: only the owner may call, even before it is published. */
    void protect() {
        try {
            Files.setPosixFilePermissions(hidden, PosixFilePermissions.fromString("rw-------"));
        } catch (IOException e) {
            throw new DraException("Can't set the mode of the socket " + hidden + ": " + e, e);
        }
    }

    /** Gives the bound socket its name, replacing a stale socket. */
    void publish() {
        try {
            Files.deleteIfExists(path); // the kubelet notices a socket that is removed and created
            Files.move(hidden, path, StandardCopyOption.ATOMIC_MOVE);
            inode = inode(path);
        } catch (IOException e) {
            throw new DraException("Can't publish the socket " + path + ": " + e, e);
        }
    }

    /** Gives the bound socket its name unless the name is taken, and returns whether it was free. */
    boolean publishIfFree() {
        try {
            Files.createLink(path, hidden); // a rename would replace the socket of a successor
            inode = inode(hidden);
            Files.delete(hidden);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        } catch (IOException e) {
            throw new DraException("Can't publish the socket " + path + ": " + e, e);
        }
    }

    /**
     * Returns whether the published file is gone. A socket that a killed process has put in its place is removed; one
     * on which another process listens counts as present.
     *
     * @throws DraException if something that is not a socket is in its place
     */
    boolean isGone() {
        if (inode.equals(NONE)) {
            return false; // not published yet
        }
        try {
            if (!inode(path).equals(inode)) {
                requireSocket();
                removeIfDead(path, hidden);
            }
            return !Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException e) {
            return true;
        } catch (IOException e) {
            throw new DraException("Can't look for the socket " + path + ": " + e, e);
        }
    }

    /** Leaves the file to another socket: inode numbers are reused. */
    void leave() {
        inode = NONE;
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

    /** Removes a socket on which no process listens; nothing has the hidden name yet. */
    static void removeIfDead(Path path, Path hidden) throws IOException {
        try {
            Object inode = inode(path);
            if (isSocket(path)
                    && failureToConnect(path, hidden) instanceof ConnectException
                    && inode.equals(inode(path))) {
                Files.delete(path);
                LOG.atInfo()
                        .addKeyValue(LogField.SOCKET, path)
                        .log("Removed the socket of an instance that was killed");
            }
        } catch (NoSuchFileException e) {
            // removed already
        }
    }

    /** Returns {@code null} if a process listens; of all failures, only a refusal shows that none does. */
    private static @Nullable IOException failureToConnect(Path path, Path hidden) {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.configureBlocking(false); // a process that hangs must not delay the start
            connect(channel, path, hidden);
            return null;
        } catch (IOException e) {
            return e;
        }
    }

    /**
     * Connects a channel to a socket, whose path may be too long for the JDK.
     *
     * @param hidden a free name next to the path, which is short enough
     */
    static boolean connect(SocketChannel channel, Path path, Path hidden) throws IOException {
        if (PluginSockets.length(path) <= LONGEST_PATH) {
            return channel.connect(UnixDomainSocketAddress.of(path));
        }
        Path shorter = Files.createLink(hidden, path);
        try {
            return channel.connect(UnixDomainSocketAddress.of(shorter));
        } finally {
            Files.deleteIfExists(shorter);
        }
    }
}
