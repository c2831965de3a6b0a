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
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
        void thatLacksOnlyItsLineFeedIsCommittedAndTheNextLineComesBehindIt() throws IOException {
            List<String> lines = written(started("uid-1"), full("uid-1"));
            write(lines.subList(0, 2), lines.get(2));

            try (Journal journal = open()) {
                assertThat(journal.loss()).isEqualTo(JournalLoss.NONE);
                assertThat(journal.claims()).containsExactly(full("uid-1"));
                journal.put(started("uid-2"));
            }
            assertThat(phases()).isEqualTo(Map.of("uid-1", PREPARED, "uid-2", PREPARING));
            assertThat(loss).isEqualTo(JournalLoss.NONE);
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
        void thatForgotItsClaimBringsItBackAsDamagedAlone() throws IOException {
            try (Journal journal = open()) {
                journal.put(full("uid-1"));
                journal.put(full("uid-2"));
                journal.forget("uid-1");
            }
            damage(3, "crc32c", "crc32d");

            assertThat(phases()).isEqualTo(Map.of("uid-1", DAMAGED, "uid-2", PREPARED));
        }

        @Test
        void isForgivenByALaterLineOfItsClaim() throws IOException {
            damage(2, "STARTED", "STARTEX", full("uid-0"), started("uid-1"), full("uid-1"));

            assertThat(phases()).isEqualTo(Map.of("uid-0", PREPARED, "uid-1", PREPARED));
            assertThat(loss).isEqualTo(new JournalLoss(false, 1, Set.of(), true));
        }

        @Test
        void whoseLineFeedIsGoneDamagesItsNeighbourToo() throws IOException {
            List<String> lines = written(full("uid-1"), full("uid-2"), full("uid-3"));
            lines.set(1, lines.get(1) + "X" + lines.remove(2));
            write(lines);

            assertThat(phases()).isEqualTo(Map.of("uid-1", DAMAGED, "uid-2", DAMAGED, "uid-3", PREPARED));
            assertThat(loss).isEqualTo(new JournalLoss(false, 2, Set.of("uid-1", "uid-2"), true));
        }

        @Test
        void atTheEndWhoseLineFeedIsGoneIsKeptAsideAndNotTakenForTorn() throws IOException {
            List<String> lines = written(full("uid-1"), full("uid-2"));
            String last = lines.remove(2) + "X";
            write(lines, last);

            assertThat(phases()).isEqualTo(Map.of("uid-1", PREPARED, "uid-2", DAMAGED));
            assertThat(loss).isEqualTo(new JournalLoss(false, 1, Set.of("uid-2"), true));
            assertThat(Files.readString(aside, ISO_8859_1)).isEqualTo(last + "\n");
        }

        @Test
        void thatIsTheHeaderLosesNoneThatIsKnownButMayHaveSaidThatSomeAreLost() throws IOException {
            damage(0, "dra4j", "dra5j", full("uid-1"));

            assertThat(phases()).isEqualTo(Map.of("uid-1", PREPARED));
            assertThat(loss).isEqualTo(new JournalLoss(false, 1, Set.of(), false));
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

        @Test
        void isHeldByAClaimThatTheJournalKnowsFromNowhereElse() throws IOException {
            damage(2, "\"phase\"", "\"phrase\"", full("uid-1"), full("uid-2"));

            try (Journal journal = open()) {
                ClaimRecord held = journal.claim("uid-2").orElseThrow();
                assertThat(held.ref()).isEqualTo(full("uid-2").ref());
                assertThat(held.devices()).isEmpty();
            }
        }
    }

    @Nested
    class LostLines {

        @Test
        void thatNothingNamesMakeAllEarlierClaimsDamagedAndLeaveLaterOnesAlone() throws IOException {
            List<String> lines = written(full("uid-1"), full("uid-2"), full("uid-3"), full("uid-4"));
            lines.set(3, "\0".repeat(100));
            write(lines);

            assertThat(phases()).isEqualTo(Map.of("uid-1", DAMAGED, "uid-2", DAMAGED, "uid-4", PREPARED));
            assertThat(loss).isEqualTo(new JournalLoss(false, 1, Set.of("uid-1", "uid-2"), false));
        }

        @Test
        void areToldByTheirNumbersAlone() throws IOException {
            List<String> lines = written(full("uid-1"), full("uid-2"), full("uid-3"));
            lines.remove(2);
            write(lines);

            assertThat(phases()).isEqualTo(Map.of("uid-1", DAMAGED, "uid-3", PREPARED));
            assertThat(loss.complete()).isFalse();
        }

        @Test
        void atTheEndAreToldByTheLockFile() throws IOException {
            write(written(full("uid-1"), full("uid-2")).subList(0, 2));

            assertThat(phases()).isEqualTo(Map.of("uid-1", DAMAGED));
            assertThat(loss).isEqualTo(new JournalLoss(false, 1, Set.of("uid-1"), false));
        }

        @ParameterizedTest
        @ValueSource(ints = {0, 2})
        void areAllIfTheFileIsGone(int claims) throws IOException {
            written(Stream.of(full("uid-1"), full("uid-2")).limit(claims).toArray(ClaimRecord[]::new));
            Files.delete(file);

            assertThat(phases()).isEmpty();
            assertThat(loss).isEqualTo(new JournalLoss(false, claims, Set.of(), claims == 0));
        }

        @Test
        void areUnknownIfAnOldFileComesBack() throws IOException {
            List<String> old = written(full("uid-1"));
            try (Journal journal = open()) {
                journal.forget("uid-1");
            }
            write(old);

            assertThat(phases()).isEqualTo(Map.of("uid-1", DAMAGED));
            assertThat(loss.complete()).isFalse();
        }

        @Test
        void areSoughtAgainAtEachStartUntilTheyAreFound() throws IOException {
            written(full("uid-1"));
            Files.delete(file);

            phases();
            assertThat(phases()).isEmpty();
            assertThat(loss).isEqualTo(new JournalLoss(false, 0, Set.of(), false));
            try (Journal journal = open()) {
                journal.put(full("uid-1"));
                journal.foundAll();
                assertThat(journal.loss().complete()).isTrue();
            }
            phases();
            assertThat(loss).isEqualTo(JournalLoss.NONE);
        }

        @Test
        void areStillSoughtIfTheHeaderThatSaidSoIsDamagedToo() throws IOException {
            written(full("uid-1"));
            Files.delete(file);
            List<String> lines = written(full("uid-2"));
            assertThat(lines.get(0)).contains("\"incomplete\":true");
            lines.set(0, lines.get(0).replace("dra4j", "dra5j"));
            lines.set(1, lines.get(1).replace("crc32c", "crc33c"));
            write(lines);

            assertThat(phases()).isEqualTo(Map.of("uid-2", DAMAGED));
            assertThat(loss.complete()).isFalse();
        }

        @Test
        void areNoneAfterAPowerFailureThatTookTheLockFilesNumber() throws IOException {
            written(full("uid-1"), full("uid-2"));
            locks.lastLine(locks.lastLine().plus(-2));

            assertThat(phases()).containsOnlyKeys("uid-1", "uid-2");
            assertThat(loss).isEqualTo(JournalLoss.NONE);
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

        @Test
        void isBounded() throws IOException {
            for (int i = 0; i < 5; i++) {
                List<String> lines = written(full("uid-1"));
                lines.add(1, Character.toString('a' + i).repeat(700_000));
                write(lines);
                assertThat(phases()).containsKey("uid-1");
            }
            assertThat(Files.size(aside)).isBetween(700_000L, 2L << 20);
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
