// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The id of the node's present boot. */
public final class BootId {

    private BootId() {}

    /**
     * Reads the boot's id.
     *
     * @param procRoot where the host's proc file system is mounted
     * @throws DraException if it can't be read
     */
    public static String read(Path procRoot) {
        Path file = procRoot.resolve("sys/kernel/random/boot_id");
        try {
            String id = Files.readString(file).strip();
            if (id.isEmpty()) {
                throw new DraException("Empty boot id in " + file + "; is it the host's /proc?");
            }
            return id;
        } catch (IOException e) {
            throw new DraException("Can't read the boot id from " + file + ": " + e, e);
        }
    }
}
