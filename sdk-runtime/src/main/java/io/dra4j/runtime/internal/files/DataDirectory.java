// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.files;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The directory below the kubelet's plugin directory that belongs to the driver, and the names of its files.
 *
 * <p>The driver creates it, and the kubelet's directory must exist: if the driver created that as well, it would serve
 * where no kubelet looks.
 */
public record DataDirectory(Path path) {

    public static DataDirectory of(Path journal) {
        return new DataDirectory(journal.resolveSibling(""));
    }

    public DataDirectory create() {
        Path parent = path.resolveSibling("");
        if (!Files.isDirectory(parent)) {
            throw new DraException(("There is no directory %s; name the kubelet's plugins directory, "
                            + "mounted at the same path as on the host")
                    .formatted(parent));
        }
        try {
            if (!Files.isDirectory(path)) {
                Files.createDirectory(path, mode("rwxr-x---"));
            }
            return this;
        } catch (IOException e) {
            throw new DraException("Can't create the driver's directory " + path + ": " + e, e);
        }
    }

    /** Returns the mode in which a file or a directory is created, such as {@code rwxr-x---}. */
    public static FileAttribute<?> mode(String permissions) {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions));
    }

    public Path journal() {
        return path.resolve("claims.journal");
    }

    /** Returns the journal of a driver whose claims were handed over; nothing reads it. */
    public Path handedOver() {
        return path.resolve("claims.journal.handed-over");
    }

    public Path locks() {
        return path.resolve("claims.lock");
    }

    public Path bootMark() {
        return path.resolve("claims.boot");
    }

    public Path reserve() {
        return path.resolve("claims.reserve");
    }

    public Path pins() {
        return path.resolve("devices.pins");
    }

    public Path maintenance() {
        return path.resolve("maintenance.json");
    }

    public Path maintenanceAnswer() {
        return path.resolve("maintenance-answer.json");
    }

    public Path reports() {
        return path.resolve("reports");
    }

    /** Returns the directory of the files in which containers read about their devices. */
    public Path metadata() {
        return path.resolve("dra-device-metadata");
    }

    /** Returns the checkpoint of a Go driver of this name. */
    public Path goCheckpoint() {
        return path.resolve("checkpoint.json");
    }
}
