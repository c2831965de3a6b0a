// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mps;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The directory of a group, which exists from before its first change to the node until all changes are undone.
 *
 * <p>Its name has digests of the claim's UID and the group: with these themselves, the path of the daemon's sockets
 * would be too long.
 */
record GroupFolder(Path path) {

    private static final FileAttribute<?> OF_ROOT =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final int SEARCHED = 0711; // a server runs as its clients' user, and must reach its files
    private static final int OF_CLIENTS = 0755; // the daemon creates its sockets for all users
    private static final int OF_LOGS = 01777; // each server creates its own
    private static final String LONGEST_NAME = "control_privileged";
    private static final int LONGEST_SOCKET = 107; // bytes, in Linux
    private static final int CLAIM_BYTES = 5;
    private static final int GROUP_BYTES = 3;

    static GroupFolder of(Path root, String claim, String group) {
        return new GroupFolder(root.resolve(digest(claim, CLAIM_BYTES) + "-" + digest(group, GROUP_BYTES)));
    }

    private static String digest(String text, int bytes) {
        try {
            byte[] all = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(all, 0, bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Each JDK has SHA-256", e);
        }
    }

    boolean isOfOne(Set<String> claims) {
        String name = name();
        return claims.stream().anyMatch(claim -> name.startsWith(digest(claim, CLAIM_BYTES) + "-"));
    }

    String name() {
        return path.getFileName().toString();
    }

    /** Returns the directory of the daemon's sockets. */
    Path pipes() {
        return path.resolve("pipe");
    }

    Path logs() {
        return path.resolve("log");
    }

    /** Returns the directory of the memory that daemon and clients share. */
    Path memory() {
        return path.resolve("shm");
    }

    Path libraries() {
        return path.resolve("lib");
    }

    /** Returns the file of a daemon's output, which servers can't replace. */
    Path output() {
        return path.resolve("daemon.log");
    }

    boolean exists() {
        return Files.isDirectory(path);
    }

    /**
     * Creates the directories.
     *
     * @throws DraException if that fails, or their path is too long for sockets
     */
    void create() {
        Path socket = pipes().resolve(LONGEST_NAME);
        if (socket.toString().getBytes(StandardCharsets.UTF_8).length > LONGEST_SOCKET) {
            throw new DraException(
                    "An MPS daemon can't create the socket %s: its path has more than %d bytes; give the kubelet's plugins directory a shorter path"
                            .formatted(socket, LONGEST_SOCKET));
        }
        try {
            make(path.getParent(), SEARCHED);
            make(path, SEARCHED);
            make(logs(), OF_LOGS);
            for (Path directory : List.of(pipes(), memory(), libraries())) {
                make(directory, OF_CLIENTS);
            }
        } catch (IOException e) {
            throw new DraException("Can't create %s: %s".formatted(path, e), e);
        }
    }

    private static void make(Path directory, int mode) throws IOException {
        Files.createDirectories(directory, OF_ROOT);
        Files.setAttribute(directory, "unix:mode", mode);
    }

    /** Deletes the content of a subdirectory, if there is any. */
    static void clear(Path directory) {
        delete(directory, false);
    }

    /** Deletes the directory, in which nothing may be mounted. */
    void delete() {
        delete(path, true);
    }

    /** Deletes what is in a directory before the directory; links are not followed. */
    private static void delete(Path directory, boolean itself) {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                if (itself || !each.equals(directory)) {
                    Files.deleteIfExists(each);
                }
            }
        } catch (NoSuchFileException e) {
            return; // by an earlier call
        } catch (IOException | UncheckedIOException e) {
            throw new DraException("Can't delete %s: %s".formatted(directory, e), e);
        }
    }
}
