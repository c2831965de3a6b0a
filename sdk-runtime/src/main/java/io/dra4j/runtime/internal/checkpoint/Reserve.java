// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.runtime.internal.files.DataDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.Set;

/**
 * A file beside a journal that keeps some room on the disk, so that claims can be given back when it is full.
 *
 * <p>It is given up when a write fails that unprepares or forgets a claim, and put back before the next claim is
 * prepared: without it nothing is begun that could not be ended.
 */
record Reserve(Path path) {

    /** Enough to unprepare some hundred claims. */
    static final int SIZE = 128 << 10;

    private static final Set<StandardOpenOption> OPTIONS =
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);

    static Reserve of(Path journal) {
        return new Reserve(DataDirectory.of(journal).reserve());
    }

    boolean isThere() {
        return Files.exists(path);
    }

    void giveUp() throws IOException {
        Files.deleteIfExists(path);
    }

    /** Takes the room again, if it is not there; all of it or nothing. */
    void putBack() throws IOException {
        if (isThere()) {
            return;
        }
        byte[] incompressible = new byte[SIZE];
        new Random(SIZE).nextBytes(incompressible);
        ByteBuffer left = ByteBuffer.wrap(incompressible);
        boolean done = false;
        try (FileChannel channel = FileChannel.open(path, OPTIONS, JournalFile.OWNER_ONLY)) {
            while (left.hasRemaining()) {
                channel.write(left);
            }
            done = true;
        } finally {
            if (!done) {
                giveUp();
            }
        }
    }
}
