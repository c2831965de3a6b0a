// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static io.dra4j.api.claim.HeldClaim.Phase.DAMAGED;
import static io.dra4j.api.claim.HeldClaim.Phase.PREPARED;
import static io.dra4j.api.claim.HeldClaim.Phase.PREPARING;
import static io.dra4j.runtime.internal.checkpoint.Records.full;
import static io.dra4j.runtime.internal.checkpoint.Records.started;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.HeldClaim.Phase;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The committed claims after a journal was damaged, one way at a time. */
class JournalDamageTest extends JournalFixture {

    private Path aside;
    private JournalLoss loss = JournalLoss.NONE;

    @BeforeEach
    void begin() {
        aside = directory.resolve("claims.journal.damaged");
    }

    /** Opens the journal, and returns the phases of its claims by UID. */
    private Map<String, Phase> phases() {
        try (Journal journal = open()) {
            loss = journal.loss();
            return journal.claims().stream()
                    .collect(Collectors.toMap(claim -> claim.ref().uid(), ClaimRecord::phase));
        }
    }

    private void write(List<String> lines) throws IOException {
        write(lines, "");
    }

    /** Writes whole lines and the start of another. */
    private void write(List<String> lines, String torn) throws IOException {
        String whole = lines.stream().map(line -> line + "\n").collect(Collectors.joining());
        Files.writeString(file, whole + torn, ISO_8859_1);
    }

    /** Writes records, and replaces a text in one of their lines; the first line is the header. */
    private void damage(int line, String text, String by, ClaimRecord... records) throws IOException {
        List<String> lines = written(records);
        lines.set(line, lines.get(line).replace(text, by));
        write(lines);
    }

    @Nested
    class ATornTail {

        @Test
        void isCutAndTheRecordBeforeIsCommitted() throws IOException {
            List<String> lines = written(started("uid-1"), full("uid-1"));
            LineNumber before = locks.lastLine().plus(-1);
            String last = lines.remove(2);

            for (int length = 1; length < last.length(); length += 19) {
                locks.lastLine(before);
                write(lines, last.substring(0, length));

                assertThat(phases()).isEqualTo(Map.of("uid-1", PREPARING));
                assertThat(loss).isEqualTo(new JournalLoss(true, 0, Set.of(), true));
                assertThat(Files.readString(file, StandardCharsets.ISO_8859_1))
                        .isEqualTo(String.join("\n", lines) + "\n");
            }
            assertThat(aside).doesNotExist();
        }

        @Test
        void ofALineThatWasAcknowledgedIsDamageAndBringsNoOlderRecordBack() throws IOException {
            List<String> lines = written(started("uid-1"), full("uid-2"), full("uid-1"));
            LineNumber all = locks.lastLine();
            String last = lines.remove(3);

            for (int length = 0; length < last.length(); length += 19) {
                locks.lastLine(all);
                String torn = last.substring(0, length);
                write(lines, torn);

                Map<String, Phase> phases = phases();

                assertThat(phases).as("cut at %s", length).containsEntry("uid-1", DAMAGED);
                assertThat(phases.get("uid-2")).isEqualTo(loss.complete() ? PREPARED : DAMAGED);
                assertThat(loss.damagedLines()).isOne();
                assertThat(loss.complete())
                        .as("the claim is named in what is left: %s", torn)
                        .isEqualTo(torn.contains("\"record\":"));
            }
        }
    }

    @Nested
    class ADamagedLine {

        @Test
        void holdsItsClaimAsDamagedWithTheDevicesOfItsLastIntactRecord() throws IOException {
            List<String> lines = written(started("uid-1"), full("uid-2"), full("uid-1"));
            String line = lines.get(3);

            for (int i = 0; i < line.length(); i += 29) {
                char changed = (char) (line.charAt(i) ^ 1);
                lines.set(3, line.substring(0, i) + changed + line.substring(i + 1));
                Files.deleteIfExists(aside);
                write(lines);
                locks.lastLine(new LineNumber(1, 3));
                try (Journal journal = open()) {
                    assertThat(journal.claim("uid-1"))
                            .contains(ClaimRecord.damaged(
                                    full("uid-1").ref(),
                                    "boot-1",
                                    started("uid-1").devices()));
                    assertThat(journal.claim("uid-2")).contains(full("uid-2"));
                    assertThat(journal.loss().complete()).isTrue();
                    assertThat(journal.loss().uids()).contains("uid-1");
                }
                assertThat(Files.readString(aside, ISO_8859_1)).isEqualTo(lines.get(3) + "\n");
                assertThat(phases()).as("after a restart").containsEntry("uid-1", DAMAGED);
                assertThat(loss).isEqualTo(JournalLoss.NONE);
            }
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(aside)))
                    .isEqualTo("rw-------");
        }

        @Test
        void thatNoLineEverWasIsAsDamagedAsOneWithAWrongSum() throws IOException {
            List<String> lines = written(full("uid-1"), full("uid-2"));
            byte[] misread = JournalFormat.line(
                    new LineNumber(1, 2),
                    JournalFormat.Entry.forget("uid-2"),
                    "{\"put\":7}".getBytes(StandardCharsets.UTF_8));
            write(lines.subList(0, 2), new String(misread, StandardCharsets.UTF_8));

            assertThat(phases()).isEqualTo(Map.of("uid-1", PREPARED, "uid-2", DAMAGED));
            assertThat(aside).hasBinaryContent(misread);
        }
    }

    @Nested
    class WhatIsKeptAside {

        @Test
        void doesNotGrowAtEachStartThoughTheJournalCannotBeRewritten() throws IOException {
            damageTheMiddle();

            for (int start = 0; start < 3; start++) {
                try (Journal journal = open(this::failAtCompaction)) {
                    assertThat(journal.claim("uid-2").orElseThrow().phase()).isEqualTo(DAMAGED);
                    journal.put(started("uid-" + (4 + start)));
                }
                assertThat(Files.readAllLines(aside)).hasSize(1);
            }
            assertThat(phases()).hasSize(6).containsEntry("uid-2", DAMAGED);
            assertThat(phases()).hasSize(6);
            assertThat(loss).isEqualTo(JournalLoss.NONE);
        }

        @Test
        void leavesTheJournalAsItIsIfItCannotBeWritten() throws IOException {
            damageTheMiddle();
            Files.createDirectories(aside.resolve("in the way"));
            byte[] before = Files.readAllBytes(file);

            assertThat(phases()).containsEntry("uid-2", DAMAGED);
            assertThat(file).hasBinaryContent(before);
            written(full("uid-4"));
            assertThat(phases())
                    .isEqualTo(Map.of(
                            "uid-1", PREPARED,
                            "uid-2", DAMAGED,
                            "uid-3", PREPARED,
                            "uid-4", PREPARED));

            Files.delete(aside.resolve("in the way"));
            Files.delete(aside);
            phases();
            assertThat(Files.readAllLines(aside)).hasSize(1);
            phases();
            assertThat(loss).isEqualTo(JournalLoss.NONE);
        }

        private void damageTheMiddle() throws IOException {
            damage(2, "PREPARED", "PREPARER", full("uid-1"), full("uid-2"), full("uid-3"));
        }

        private void failAtCompaction(FileChannel channel, boolean metadata) throws IOException {
            if (metadata && Files.exists(Path.of(file + ".new"))) {
                throw new IOException("Input/output error");
            }
        }
    }
}
