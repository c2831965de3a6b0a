// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.files.DataDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The id of the node's current boot. */
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

    /**
     * A file next to the journal, with the boot in which CDI specs were last reconciled.
     *
     * <p>After a reboot, specs without a record are leftovers of the earlier boot, and useless: a power failure may
     * have undone the record of a claim for which the provider changes nothing. Without the mark, such specs count as
     * evidence of damage, which is safe. So the mark is on the disk before the first claim is prepared. Not
     * thread-safe.
     */
    public static final class BootMark {

        private final Path file;
        private final String bootId;
        private final JournalFile.Sync sync;
        private boolean hasFailed;

        BootMark(JournalStore.Place place) {
            this.file = DataDirectory.of(place.path()).bootMark();
            this.bootId = place.bootId();
            this.sync = place.sync();
        }

        /** Returns whether the file names an earlier boot; false if there is no readable file. */
        public boolean isOfEarlierBoot() {
            String marked = read();
            return !marked.isEmpty() && !marked.equals(bootId);
        }

        private String read() {
            try {
                return Files.readString(file).strip();
            } catch (IOException e) {
                return ""; // missing or unreadable: the safe answer
            }
        }

        /**
         * Records durably that a start in this boot has reached this point; later starts in the boot write nothing.
         *
         * @throws DraException if it can't be written; the next call tries again
         */
        public void write() {
            if (!hasFailed && read().equals(bootId)) {
                return;
            }
            hasFailed = true;
            try (JournalFile mark = JournalFile.open(file, sync)) {
                mark.replace((bootId + "\n").getBytes(StandardCharsets.UTF_8));
                mark.syncName();
            } catch (IOException e) {
                throw new DraException("Can't write " + file + ": " + e, e);
            }
            hasFailed = false;
        }
    }
}
