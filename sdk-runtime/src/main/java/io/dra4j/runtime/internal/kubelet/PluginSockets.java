// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.kubelet;

import io.dra4j.api.error.DraException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The paths of a driver's two sockets.
 *
 * <p>The kernel keeps 108 bytes for a socket's path, the last of them zero. With a pod UID, which lets two instances
 * run side by side, the names are used if they are short enough, and otherwise hashed.
 *
 * @param registrarDirectory the kubelet's directory of registration sockets
 * @param dataDirectory the driver's own directory
 * @param podUid distinguishes two instances of the driver; {@code null} for one instance at a time
 */
public record PluginSockets(
        String driverName,
        Path registrarDirectory,
        Path dataDirectory,
        @Nullable String podUid) {

    private static final int LONGEST_PATH = 107;
    private static final String BASE64 = "[A-Za-z0-9_-]";
    private static final String TELLING_HASH = "(?=[a-z0-9-]*[A-Z_])" + BASE64 + "{11}";

    /** A UUID, or the 32 digits of a pod that the kubelet read from a file. */
    private static final String POD_UID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}";

    /**
     * Returns the path of the registration socket.
     *
     * @throws DraException if no name for it is short enough
     */
    Path registration() {
        return firstThatFits(registrarDirectory, registrationNames());
    }

    /**
     * Each lets a later instance recognize the socket as the driver's own, so a UID is used unchanged only if it has a
     * form that no driver's name ends with.
     */
    private List<String> registrationNames() {
        if (podUid == null) {
            return List.of(driverName + "-reg.sock");
        }
        List<String> names = new ArrayList<>();
        if (podUid.matches(POD_UID)) {
            names.add(driverName + "-" + podUid + "-reg.sock");
        }
        names.add(driverName + "-" + tellingHash(podUid) + "-reg.sock");
        names.add(wholeHash() + hash(podUid, 8) + "-reg.sock");
        return names;
    }

    /** Returns the beginning of names that are a hash as a whole. */
    private String wholeHash() {
        return "dra-" + hash(driverName, 6);
    }

    private static String tellingHash(String podUid) {
        String hash = hash(podUid, 8);
        for (int i = 1; !hash.matches(TELLING_HASH); i++) {
            hash = hash(podUid + "\0" + i, 8);
        }
        return hash;
    }

    /**
     * Returns the path of the service socket.
     *
     * @throws DraException if no name for it is short enough
     */
    Path service() {
        List<String> names = podUid == null
                ? List.of("dra.sock")
                : List.of("dra-" + podUid + ".sock", "dra-" + hash(podUid, 8) + ".sock", hash(podUid, 8) + ".sock");
        return firstThatFits(dataDirectory, names);
    }

    /**
     * Returns a name next to a socket that the kubelet ignores, to bind before the socket is published; shorter than
     * the shortest name of a socket, since the JDK allows one byte less than the kernel.
     */
    Path hidden(Path socket) {
        byte[] random = new byte[2];
        ThreadLocalRandom.current().nextBytes(random);
        return socket.resolveSibling("." + hash(driverName, 2) + base64(random));
    }

    /** Returns whether a name in the registrar directory or the data directory is a hidden one. */
    boolean isHidden(String name) {
        return name.matches("\\." + Pattern.quote(hash(driverName, 2)) + BASE64 + "{3}");
    }

    /**
     * Returns whether only an instance of this driver can have given a registration socket its name.
     *
     * <p>A driver's name may be another driver's name with a suffix, but the suffix can't be a whole pod UID, nor have
     * capitals or an underscore, which the hashes in these names have. A name that is a hash as a whole begins with
     * that of the driver's name.
     */
    boolean isOwnRegistration(String name) {
        return name.matches("%s(-(%s|%s))?-reg\\.sock".formatted(Pattern.quote(driverName), POD_UID, TELLING_HASH))
                || name.matches(Pattern.quote(wholeHash()) + BASE64 + "{11}-reg\\.sock");
    }

    /** Returns whether a name in the data directory, which is the driver's own, belongs to a service socket. */
    static boolean isService(String name) {
        return name.matches("dra(-" + BASE64 + "+)?\\.sock|" + BASE64 + "{11}\\.sock");
    }

    private static Path firstThatFits(Path directory, List<String> names) {
        return names.stream()
                .map(directory::resolve)
                .filter(path -> length(path) <= LONGEST_PATH)
                .findFirst()
                .orElseThrow(() -> tooLong(directory.resolve(names.get(names.size() - 1))));
    }

    private static DraException tooLong(Path path) {
        return new DraException(("The path of the socket %s has %s bytes, the kernel allows %s; use a shorter "
                        + "directory or driver name")
                .formatted(path, length(path), LONGEST_PATH));
    }

    static int length(Path path) {
        return path.toString().getBytes(StandardCharsets.UTF_8).length;
    }

    private static String hash(String text, int bytes) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return base64(Arrays.copyOf(digest, bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256", e);
        }
    }

    private static String base64(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
