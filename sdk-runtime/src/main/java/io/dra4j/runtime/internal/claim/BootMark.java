// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;

/**
 * A file beside the journal with the boot in which CDI specs were last reconciled.
 *
 * <p>In another boot, specs without a record are of that one and of no use. A mark that a crash of
 * the node lost makes them count as evidence of damage, which is the safe side: so it is not
 * synced.
 */
final class BootMark {

    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final Path file;

    BootMark(Path dataDirectory) {
        this.file = dataDirectory.resolve("claims.boot");
    }

    /** Returns the boot of the last start that came this far, if the file has one. */
    Optional<String> read() {
        try {
            return Optional.of(Files.readString(file).strip()).filter(id -> !id.isEmpty());
        } catch (IOException e) {
            return Optional.empty(); // none, or none that can be read: the safe side
        }
    }

    /** Records that a start of this boot came this far. */
    void write(String bootId) {
        Path next = file.resolveSibling(file.getFileName() + ".new");
        try {
            Files.deleteIfExists(next);
            Files.createFile(next, OWNER_ONLY);
            Files.writeString(next, bootId + "\n");
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new DraException("Can't write " + file + ": " + e, e);
        }
    }
}
