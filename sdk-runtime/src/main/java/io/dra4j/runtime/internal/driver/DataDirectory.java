// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The directory below the kubelet's plugin directory that belongs to the driver.
 *
 * <p>The driver creates it, and the kubelet's own directory must be there: a driver that created
 * that one too would serve where no kubelet looks.
 */
record DataDirectory(Path path) {

    /** The name of the journal's file. */
    static final String JOURNAL = "claims.journal";

    static DataDirectory of(DriverSettings settings) {
        Path parent = settings.pluginsDirectory;
        if (!Files.isDirectory(parent)) {
            throw new DraException(("There is no directory %s; name the kubelet's plugins directory, "
                            + "mounted at the same path as on the host")
                    .formatted(parent));
        }
        Path own = settings.dataDirectory();
        try {
            if (!Files.isDirectory(own)) {
                Files.createDirectory(
                        own, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-x---")));
            }
            return new DataDirectory(own);
        } catch (IOException e) {
            throw new DraException("Can't make the driver's directory " + own + ": " + e, e);
        }
    }

    Path journal() {
        return path.resolve(JOURNAL);
    }

    Path locks() {
        return path.resolve("claims.lock");
    }
}
