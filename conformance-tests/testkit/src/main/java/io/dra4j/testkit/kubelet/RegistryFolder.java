// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * The sockets of the registry directory that the kubelet sees: no hidden names, nothing but
 * sockets.
 *
 * @param outside where the kubelet finds what a driver calls so
 */
record RegistryFolder(Path path, UnaryOperator<Path> outside) {

    private static final int SOCKET = 0140000;
    private static final int FILE_TYPE = 0170000;

    /**
     * Returns the sockets with their identities, which a later one of the same name does not have:
     * inode and when it was bound, which neither a change of its mode nor a rename touches.
     */
    Map<Path, String> sockets() throws IOException {
        Map<Path, String> sockets = new HashMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
            for (Path file : files) {
                if (!file.getFileName().toString().startsWith(".")) {
                    addIfSocket(file, sockets);
                }
            }
        }
        return sockets;
    }

    private static void addIfSocket(Path file, Map<Path, String> sockets) {
        try {
            Map<String, Object> stat =
                    Files.readAttributes(
                            file, "unix:mode,ino,lastModifiedTime", LinkOption.NOFOLLOW_LINKS);
            if (((int) stat.get("mode") & FILE_TYPE) == SOCKET) {
                sockets.put(file, stat.get("ino") + "@" + stat.get("lastModifiedTime"));
            }
        } catch (IOException e) {
            // gone since it was listed: not there
        }
    }
}
