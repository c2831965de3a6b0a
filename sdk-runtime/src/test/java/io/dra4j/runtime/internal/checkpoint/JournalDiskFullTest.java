// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.JournalFile.Reserve;
import io.dra4j.runtime.internal.observe.Meters;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A journal on a small disk of its own that is full. */
class JournalDiskFullTest {

    @TempDir
    Path directory;

    private Path disk;
    private Path filler;
    private boolean isMounted;
    private LockFile locks;
    private Journal journal;

    @BeforeEach
    void mount() throws Exception {
        disk = Files.createDirectory(directory.resolve("disk"));
        isMounted = run("mount", "-t", "tmpfs", "-o", "size=512k", "none", disk.toString()) == 0;
        assumeTrue(isMounted, "only root can mount a small disk");
        filler = disk.resolve("filler");
        locks = LockFile.open(disk.resolve("claims.lock"));
        journal = open();
    }

    @AfterEach
    void unmount() throws Exception {
        if (isMounted) {
            journal.close();
            locks.close();
            assertThat(run("umount", disk.toString())).isZero();
        }
    }

    private Journal open() {
        return Journal.open(disk.resolve("claims.journal"), "boot-1", locks, Meters.none());
    }

    private static int run(String... command) throws Exception {
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }

    private void fill() throws IOException {
        try (OutputStream out = Files.newOutputStream(filler)) {
            for (int i = 0; i < 512; i++) {
                out.write(new byte[1024]);
            }
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("No space left on device");
        }
    }

    /** Prepares claims until one can't be, and returns how many could; a page has some room. */
    private int prepareUntilItFails(int before) {
        int prepared = before;
        try {
            while (prepared < 100) {
                journal.put(Records.full("uid-" + prepared));
                prepared++;
            }
        } catch (DraException e) {
            assertThat(e)
                    .hasMessageContaining("Can't write the journal " + disk)
                    .hasMessageContaining("No space left on device");
        }
        assertThat(prepared).isBetween(before, 99);
        return prepared;
    }

    @Test
    void prepareFailsAndClaimsCanBeGivenBackAndTheRoomForThatIsNotUsedForMore() throws IOException {
        for (int i = 0; i < 20; i++) {
            journal.put(Records.full("uid-" + i));
        }
        fill();
        int prepared = prepareUntilItFails(20);
        assertThat(journal.claims()).hasSize(prepared);

        for (int i = 0; i < prepared - 1; i++) {
            ClaimRecord claim = Records.full("uid-" + i);
            ClaimRecord damaged = ClaimRecord.damaged(claim.ref(), claim.bootId(), claim.devices());
            journal.put((i % 2 == 0 ? claim : damaged).unpreparing());
            journal.forget("uid-" + i);
        }
        assertThat(disk.resolve("claims.reserve")).doesNotExist();
        assertThatThrownBy(() -> journal.put(Records.started("uid-more")))
                .as("while the disk is full")
                .hasMessageContaining("No space left on device");
        assertThat(disk.resolve("claims.reserve")).doesNotExist();
        assertThat(journal.claims()).hasSize(1);
        System.out.println((prepared - 1) + " claims were given back on a full disk");

        Files.delete(filler);
        journal.put(Records.started("uid-more"));
        assertThat(disk.resolve("claims.reserve")).hasSize(Reserve.SIZE);
        journal.close();
        journal = open();
        assertThat(journal.claims()).hasSize(2);
        assertThat(journal.loss()).isEqualTo(JournalLoss.NONE);
    }

    @Test
    void aStartOnAFullDiskWorksAndGivesClaimsBack() throws IOException {
        journal.put(Records.full("uid-0"));
        journal.close();
        fill();
        Files.delete(disk.resolve("claims.reserve"));
        fill();

        journal = open();

        assertThat(journal.claims()).containsExactly(Records.full("uid-0"));
        journal.forget("uid-0");
        assertThatThrownBy(() -> journal.put(Records.started("uid-1"))).hasMessageContaining("No space left on device");
        Files.delete(filler);
        journal.put(Records.started("uid-1"));
    }
}
