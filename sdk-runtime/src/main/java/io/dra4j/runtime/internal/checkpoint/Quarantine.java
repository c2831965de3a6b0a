// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The file beside a journal that keeps what was found damaged, for people to look at.
 *
 * <p>What is there already is not kept twice, and the file does not grow beyond 2 MiB: a driver
 * that starts again and again on a damaged journal fills no disk.
 */
record Quarantine(Path path) {

    private static final long LARGEST = 2 << 20;

    static Quarantine of(Path journal) {
        return new Quarantine(journal.resolveSibling(journal.getFileName() + ".damaged"));
    }

    /**
     * Keeps pieces of a journal.
     *
     * @throws IOException if they can't be written
     */
    void keep(byte[] pieces) throws IOException {
        byte[] there = Files.exists(path) ? Files.readAllBytes(path) : new byte[0];
        if (there.length + pieces.length > LARGEST || text(there).contains(text(pieces))) {
            return;
        }
        if (!Files.exists(path)) {
            Files.createFile(path, JournalFile.OWNER_ONLY);
        }
        Files.write(path, pieces, StandardOpenOption.APPEND, StandardOpenOption.SYNC);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
