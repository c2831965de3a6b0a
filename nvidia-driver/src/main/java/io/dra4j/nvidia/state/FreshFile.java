// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.state;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/** Replaces files as a whole: readers find the previous content or the new one, also after a crash. */
public final class FreshFile {

    public static final String OF_OWNER = "rw-------";

    private FreshFile() {}

    /** Replaces a file, or creates it, with some permissions; with {@code SYNC}, it also survives a power failure. */
    public static void replace(Path file, byte[] content, String mode, OpenOption... how) throws IOException {
        replace(file, new ByteArrayInputStream(content), mode, how);
    }

    /** Replaces a file likewise by what a stream has left. */
    public static synchronized void replace(Path file, InputStream content, String mode, OpenOption... how)
            throws IOException {
        Path fresh = file.resolveSibling("." + file.getFileName() + ".new"); // fixed: killed writes leave one at most
        Files.deleteIfExists(fresh);
        try {
            Files.createFile(fresh, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OF_OWNER)));
            try (OutputStream out = Files.newOutputStream(fresh, how)) {
                content.transferTo(out);
            }
            Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString(mode));
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }
}
