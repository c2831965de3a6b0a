// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.runtime.internal.observe.Meters;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The committed claims after a journal was damaged, one way at a time. */
class JournalDamageTest {

    @TempDir Path directory;
    private Path file;
    private Path aside;
    private LockFile locks;
    private Loss loss = Loss.NONE;

    @BeforeEach
    void begin() {
        file = directory.resolve("claims.journal");
        aside = directory.resolve("claims.journal.damaged");
        locks = LockFile.open(directory.resolve("claims.lock"), InstantSource.system());
    }

    @AfterEach
    void end() {
        locks.close();
    }

    private Journal open() {
        return Records.openWithoutSync(file, locks);
    }

    /** Opens the journal, and returns the phases of its claims by UID. */
    private Map<String, Phase> phases() {
        try (Journal journal = open()) {
            loss = journal.loss();
            return journal.claims().stream()
                    .collect(Collectors.toMap(claim -> claim.ref().uid(), ClaimRecord::phase));
        }
    }

    /** Writes lines, and returns them with their line feeds; the first is the header. */
    private List<String> written(ClaimRecord... records) throws IOException {
        try (Journal journal = open()) {
            List.of(records).forEach(journal::put);
        }
        return lines();
    }

    private List<String> lines() throws IOException {
        return Files.readAllLines(file, StandardCharsets.ISO_8859_1).stream()
                .map(line -> line + "\n")
                .collect(Collectors.toCollection(ArrayList::new));
    }

    private void write(List<String> lines) throws IOException {
        Files.writeString(file, String.join("", lines), StandardCharsets.ISO_8859_1);
    }

    /** Lets the lock file say that the last lines were never acknowledged. */
    private void unacknowledge(int lines) throws IOException {
        locks.lastLine(locks.lastLine().plus(-lines));
    }

    @Nested
    class ATornTail {

        @Test
        void isCutAndTheRecordBeforeIsCommitted() throws IOException {
            List<String> lines = written(Records.started("uid-1"), Records.full("uid-1"));
            LineNumber before = locks.lastLine().plus(-1);
            String last = lines.remove(2);

            for (int length = 1; length < last.length() - 1; length += 19) {
                locks.lastLine(before);
                write(lines);
                Files.writeString(file, Files.readString(file) + last.substring(0, length));

                assertThat(phases()).isEqualTo(Map.of("uid-1", Phase.STARTED));
                assertThat(loss).isEqualTo(new Loss(true, 0, Set.of(), true));
                assertThat(Files.readString(file)).isEqualTo(String.join("", lines));
            }
            assertThat(aside).doesNotExist();
        }

        @Test
        void thatLacksOnlyItsLineFeedIsCommittedAndTheNextLineComesBehindIt() throws IOException {
            List<String> lines = written(Records.started("uid-1"), Records.full("uid-1"));
            lines.set(2, lines.get(2).stripTrailing());
            write(lines);

            try (Journal journal = open()) {
                assertThat(journal.loss()).isEqualTo(Loss.NONE);
                assertThat(journal.claims()).containsExactly(Records.full("uid-1"));
                journal.put(Records.started("uid-2"));
            }
            assertThat(phases()).isEqualTo(Map.of("uid-1", Phase.PREPARED, "uid-2", Phase.STARTED));
            assertThat(loss).isEqualTo(Loss.NONE);
        }

        @Test
        void ofALineThatWasAcknowledgedIsDamageAndBringsNoOlderRecordBack() throws IOException {
            List<String> lines =
                    written(Records.started("uid-1"), Records.full("uid-2"), Records.full("uid-1"));
            LineNumber all = locks.lastLine();
            String last = lines.remove(3);

            for (int length = 0; length < last.length() - 1; length += 19) {
                locks.lastLine(all);
                write(lines);
                Files.writeString(file, Files.readString(file) + last.substring(0, length));

                Map<String, Phase> phases = phases();

                assertThat(phases).as("cut at %s", length).containsEntry("uid-1", Phase.DAMAGED);
                assertThat(phases.get("uid-2"))
                        .isEqualTo(loss.complete() ? Phase.PREPARED : Phase.DAMAGED);
                assertThat(loss.damagedLines()).isOne();
                assertThat(loss.complete())
                        .as("the claim is named in what is left: %s", last.substring(0, length))
                        .isEqualTo(last.substring(0, length).contains("\"record\":"));
            }
        }
    }

    @Nested
    class ADamagedLine {

        @Test
        void holdsItsClaimAsDamagedWithTheDevicesOfItsLastIntactRecord() throws IOException {
            List<String> lines =
                    written(Records.started("uid-1"), Records.full("uid-2"), Records.full("uid-1"));
            String line = lines.get(3);

            for (int i = 0; i < line.length() - 1; i += 29) {
                lines.set(
                        3,
                        line.substring(0, i) + (char) (line.charAt(i) ^ 1) + line.substring(i + 1));
                Files.deleteIfExists(aside);
                write(lines);
                LineNumber before = new LineNumber(1, 3);
                locks.lastLine(before);
                try (Journal journal = open()) {
                    assertThat(journal.claim("uid-1"))
                            .hasValueSatisfying(
                                    claim -> {
                                        assertThat(claim.phase()).isEqualTo(Phase.DAMAGED);
                                        assertThat(claim.ref())
                                                .isEqualTo(Records.full("uid-1").ref());
                                        assertThat(claim.devices())
                                                .isEqualTo(Records.started("uid-1").devices());
                                        assertThat(claim.state()).isNull();
                                        assertThat(claim.answer()).isNull();
                                    });
                    assertThat(journal.claim("uid-2")).contains(Records.full("uid-2"));
                    assertThat(journal.loss().complete()).isTrue();
                    assertThat(journal.loss().uids()).contains("uid-1");
                }
                assertThat(Files.readString(aside, StandardCharsets.ISO_8859_1))
                        .isEqualTo(lines.get(3));
                assertThat(phases()).as("after a restart").containsEntry("uid-1", Phase.DAMAGED);
                assertThat(loss).isEqualTo(Loss.NONE);
            }
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(aside)))
                    .isEqualTo("rw-------");
        }

        @Test
        void thatForgotItsClaimBringsItBackAsDamagedAlone() throws IOException {
            try (Journal journal = open()) {
                journal.put(Records.full("uid-1"));
                journal.put(Records.full("uid-2"));
                journal.forget("uid-1");
            }
            List<String> lines = lines();
            lines.set(3, lines.get(3).replace("crc32c", "crc32d"));
            write(lines);

            assertThat(phases()).isEqualTo(Map.of("uid-1", Phase.DAMAGED, "uid-2", Phase.PREPARED));
        }

        @Test
        void isForgivenByALaterLineOfItsClaim() throws IOException {
            List<String> lines =
                    written(Records.full("uid-0"), Records.started("uid-1"), Records.full("uid-1"));
            lines.set(2, lines.get(2).replace("STARTED", "STARTEX"));
            write(lines);

            assertThat(phases())
                    .isEqualTo(Map.of("uid-0", Phase.PREPARED, "uid-1", Phase.PREPARED));
            assertThat(loss).isEqualTo(new Loss(false, 1, Set.of(), true));
        }

        @Test
        void whoseLineFeedIsGoneDamagesItsNeighbourToo() throws IOException {
            List<String> lines =
                    written(Records.full("uid-1"), Records.full("uid-2"), Records.full("uid-3"));
            lines.set(1, lines.get(1).stripTrailing() + "X");
            write(lines);

            assertThat(phases())
                    .isEqualTo(
                            Map.of(
                                    "uid-1", Phase.DAMAGED,
                                    "uid-2", Phase.DAMAGED,
                                    "uid-3", Phase.PREPARED));
            assertThat(loss).isEqualTo(new Loss(false, 2, Set.of("uid-1", "uid-2"), true));
        }

        @Test
        void atTheEndWhoseLineFeedIsGoneIsKeptAsideAndNotTakenForTorn() throws IOException {
            List<String> lines = written(Records.full("uid-1"), Records.full("uid-2"));
            lines.set(2, lines.get(2).stripTrailing() + "X");
            write(lines);

            assertThat(phases()).isEqualTo(Map.of("uid-1", Phase.PREPARED, "uid-2", Phase.DAMAGED));
            assertThat(loss).isEqualTo(new Loss(false, 1, Set.of("uid-2"), true));
            assertThat(Files.readString(aside, StandardCharsets.ISO_8859_1))
                    .isEqualTo(lines.get(2) + "\n");
        }

        @Test
        void thatIsTheHeaderLosesNoneThatIsKnownButMayHaveSaidThatSomeAreLost() throws IOException {
            List<String> lines = written(Records.full("uid-1"));
            lines.set(0, lines.get(0).replace("dra4j", "dra5j"));
            write(lines);

            assertThat(phases()).isEqualTo(Map.of("uid-1", Phase.PREPARED));
            assertThat(loss).isEqualTo(new Loss(false, 1, Set.of(), false));
        }

        @Test
        void thatNoLineEverWasIsAsDamagedAsOneWithAWrongSum() throws IOException {
            List<String> lines = written(Records.full("uid-1"), Records.full("uid-2"));
            String misread =
                    new String(
                            JournalFormat.line(
                                    new LineNumber(1, 2),
                                    JournalFormat.Entry.forget("uid-2"),
                                    "{\"put\":7}".getBytes(StandardCharsets.UTF_8)),
                            StandardCharsets.UTF_8);
            lines.set(2, misread);
            write(lines);

            assertThat(phases()).isEqualTo(Map.of("uid-1", Phase.PREPARED, "uid-2", Phase.DAMAGED));
            assertThat(aside).hasContent(misread);
        }

        @Test
        void isHeldByAClaimThatTheJournalKnowsFromNowhereElse() throws IOException {
            List<String> lines = written(Records.full("uid-1"), Records.full("uid-2"));
            lines.set(2, lines.get(2).replace("\"phase\"", "\"phrase\""));
            write(lines);

            try (Journal journal = open()) {
                assertThat(journal.claim("uid-2").orElseThrow().ref())
                        .isEqualTo(Records.full("uid-2").ref());
                assertThat(journal.claim("uid-2").orElseThrow().devices()).isEmpty();
            }
        }
    }

    @Nested
    class LostLines {

        @Test
        void thatNothingNamesMakeAllEarlierClaimsDamagedAndLeaveLaterOnesAlone()
                throws IOException {
            List<String> lines =
                    written(
                            Records.full("uid-1"),
                            Records.full("uid-2"),
                            Records.full("uid-3"),
                            Records.full("uid-4"));
            lines.set(3, "\0".repeat(100) + "\n");
            write(lines);

            assertThat(phases())
                    .isEqualTo(
                            Map.of(
                                    "uid-1", Phase.DAMAGED,
                                    "uid-2", Phase.DAMAGED,
                                    "uid-4", Phase.PREPARED));
            assertThat(loss).isEqualTo(new Loss(false, 1, Set.of("uid-1", "uid-2"), false));
        }

        @Test
        void areToldByTheirNumbersAlone() throws IOException {
            List<String> lines =
                    written(Records.full("uid-1"), Records.full("uid-2"), Records.full("uid-3"));
            lines.remove(2);
            write(lines);

            assertThat(phases()).isEqualTo(Map.of("uid-1", Phase.DAMAGED, "uid-3", Phase.PREPARED));
            assertThat(loss.complete()).isFalse();
        }

        @Test
        void atTheEndAreToldByTheLockFile() throws IOException {
            List<String> lines = written(Records.full("uid-1"), Records.full("uid-2"));
            write(lines.subList(0, 2));

            assertThat(phases()).isEqualTo(Map.of("uid-1", Phase.DAMAGED));
            assertThat(loss).isEqualTo(new Loss(false, 1, Set.of("uid-1"), false));
        }

        @Test
        void areAllIfTheFileIsGone() throws IOException {
            written(Records.full("uid-1"), Records.full("uid-2"));
            Files.delete(file);

            assertThat(phases()).isEmpty();
            assertThat(loss).isEqualTo(new Loss(false, 2, Set.of(), false));
        }

        @Test
        void areNoneIfAFileWithoutClaimsIsGone() throws IOException {
            written();
            Files.delete(file);

            assertThat(phases()).isEmpty();
            assertThat(loss).isEqualTo(Loss.NONE);
        }

        @Test
        void areUnknownIfAnOldFileComesBack() throws IOException {
            byte[] old =
                    String.join("", written(Records.full("uid-1")))
                            .getBytes(StandardCharsets.UTF_8);
            try (Journal journal = open()) {
                journal.forget("uid-1");
            }
            Files.write(file, old);

            assertThat(phases()).isEqualTo(Map.of("uid-1", Phase.DAMAGED));
            assertThat(loss.complete()).isFalse();
        }

        @Test
        void areSoughtAgainAtEachStartUntilTheyAreFound() throws IOException {
            written(Records.full("uid-1"));
            Files.delete(file);

            phases();
            assertThat(phases()).isEmpty();
            assertThat(loss).isEqualTo(new Loss(false, 0, Set.of(), false));
            try (Journal journal = open()) {
                journal.put(Records.full("uid-1"));
                journal.foundAll();
                assertThat(journal.loss().complete()).isTrue();
            }
            phases();
            assertThat(loss).isEqualTo(Loss.NONE);
        }

        @Test
        void areStillSoughtIfTheHeaderThatSaidSoIsDamagedToo() throws IOException {
            written(Records.full("uid-1"));
            Files.delete(file);
            List<String> lines = written(Records.full("uid-2"));
            assertThat(lines.get(0)).contains("\"incomplete\":true");
            lines.set(0, lines.get(0).replace("dra4j", "dra5j"));
            lines.set(1, lines.get(1).replace("crc32c", "crc33c"));
            write(lines);

            assertThat(phases()).isEqualTo(Map.of("uid-2", Phase.DAMAGED));
            assertThat(loss.complete()).isFalse();
        }

        @Test
        void areNoneAfterAPowerFailureThatTookTheLockFilesNumber() throws IOException {
            written(Records.full("uid-1"), Records.full("uid-2"));
            unacknowledge(2);

            assertThat(phases()).containsOnlyKeys("uid-1", "uid-2");
            assertThat(loss).isEqualTo(Loss.NONE);
        }
    }

    @Nested
    class WhatIsKeptAside {

        @Test
        void doesNotGrowAtEachStartThoughTheJournalCannotBeRewritten() throws IOException {
            damageTheMiddle();

            for (int start = 0; start < 3; start++) {
                try (Journal journal = openWithoutCompaction()) {
                    assertThat(journal.claim("uid-2").orElseThrow().phase())
                            .isEqualTo(Phase.DAMAGED);
                    journal.put(Records.started("uid-" + (4 + start)));
                }
                assertThat(Files.readAllLines(aside)).hasSize(1);
            }
            assertThat(phases()).hasSize(6).containsEntry("uid-2", Phase.DAMAGED);
            assertThat(phases()).hasSize(6);
            assertThat(loss).isEqualTo(Loss.NONE);
        }

        @Test
        void leavesTheJournalAsItIsIfItCannotBeWritten() throws IOException {
            damageTheMiddle();
            Files.createDirectories(aside.resolve("in the way"));
            byte[] before = Files.readAllBytes(file);

            assertThat(phases()).containsEntry("uid-2", Phase.DAMAGED);
            assertThat(file).hasBinaryContent(before);
            try (Journal journal = open()) {
                journal.put(Records.full("uid-4"));
            }
            assertThat(phases())
                    .isEqualTo(
                            Map.of(
                                    "uid-1", Phase.PREPARED,
                                    "uid-2", Phase.DAMAGED,
                                    "uid-3", Phase.PREPARED,
                                    "uid-4", Phase.PREPARED));

            Files.delete(aside.resolve("in the way"));
            Files.delete(aside);
            phases();
            assertThat(Files.readAllLines(aside)).hasSize(1);
            phases();
            assertThat(loss).isEqualTo(Loss.NONE);
        }

        @Test
        void isBounded() throws IOException {
            for (int i = 0; i < 5; i++) {
                List<String> lines = written(Records.full("uid-1"));
                byte[] noise = new byte[700_000];
                Arrays.fill(noise, (byte) ('a' + i));
                lines.add(1, new String(noise, StandardCharsets.ISO_8859_1) + "\n");
                write(lines);
                assertThat(phases()).containsKey("uid-1");
            }
            assertThat(Files.size(aside)).isBetween(700_000L, 2L << 20);
        }

        private void damageTheMiddle() throws IOException {
            List<String> lines =
                    written(Records.full("uid-1"), Records.full("uid-2"), Records.full("uid-3"));
            lines.set(2, lines.get(2).replace("PREPARED", "PREPARER"));
            write(lines);
        }

        private Journal openWithoutCompaction() {
            return Journal.open(
                    new JournalStore.Place(
                            file,
                            "boot-1",
                            locks,
                            Meters.none(),
                            (channel, metadata) -> {
                                if (metadata && Files.exists(Path.of(file + ".new"))) {
                                    throw new IOException("Input/output error");
                                }
                            }));
        }
    }
}
