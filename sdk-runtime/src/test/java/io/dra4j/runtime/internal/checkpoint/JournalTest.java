// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static io.dra4j.runtime.internal.checkpoint.Records.full;
import static io.dra4j.runtime.internal.checkpoint.Records.prepared;
import static io.dra4j.runtime.internal.checkpoint.Records.started;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class JournalTest extends JournalFixture {

    @Nested
    class Memory {

        @Test
        void isOfTheLastRecordOfEachClaim() {
            try (Journal journal = open()) {
                journal.put(started("uid-1"));
                journal.put(full("uid-1"));
                journal.put(started("uid-2"));
                journal.forget("uid-2");
                assertThat(journal.claims()).containsExactly(full("uid-1"));
            }

            assertThat(reread()).containsExactly(full("uid-1"));
        }

        @Test
        void hasAWholeReserveNextToItThoughACrashLeftAPart() throws IOException {
            Path reserve = Files.write(directory.resolve("claims.reserve"), new byte[10]);

            reread();

            assertThat(reserve).hasSize(JournalFile.Reserve.SIZE);
        }

        @Test
        void ofNothingIsAHeaderAlone() throws IOException {
            try (Journal journal = open()) {
                journal.put(full("uid-1"));
                journal.forget("uid-1");
            }

            assertThat(Files.readAllLines(file))
                    .singleElement()
                    .asString()
                    .startsWith("{\"file\":2,\"line\":0,\"record\":{\"format\":\"dra4j-claims\",\"version\":1}");
        }

        @Test
        void isReadableByItsOwnerAlone() throws IOException {
            written(started("uid-1"));

            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
        }

        @Test
        void staysSmallHoweverOftenClaimsComeAndGo() throws IOException {
            try (Journal journal = open()) {
                journal.put(full("uid-held"));
                for (int i = 0; i < 1100; i++) {
                    journal.put(started("uid-1"));
                }
                assertThat(Files.readAllLines(file)).hasSizeLessThan(200);
                assertThat(journal.claims()).hasSize(2);
            }
            assertThat(reread()).hasSize(2);
        }

        @Test
        void staysSmallThoughItsLinesAreLong() throws IOException {
            ProviderState long60k = new ProviderState(1, "x".repeat(60 << 10));
            try (Journal journal = open()) {
                for (int i = 0; i < 100; i++) {
                    journal.put(full("uid-1").withState(long60k));
                    assertThat(Files.size(file)).isLessThan(1200 << 10);
                }
            }
            assertThat(reread()).hasSize(1);
        }

        @Test
        void takesNoRecordThatCouldNotBeReadAgain() {
            ContainerEdits edits =
                    ContainerEdits.builder().env("A", "x".repeat(4 << 20)).build();
            ClaimRecord large = prepared("uid-1", List.of(), edits);
            try (Journal journal = open()) {
                assertFails(() -> journal.put(large), "The record of claim uid-1 has 4194");
            }
            assertThat(reread()).isEmpty();
        }

        @Test
        void isOfAnInterruptedCallerToo() {
            try (Journal journal = open()) {
                Thread.currentThread().interrupt();
                journal.put(started("uid-1"));
                assertThat(Thread.interrupted()).isTrue();
                journal.put(started("uid-2"));
            }

            assertThat(reread()).hasSize(2);
        }
    }

    @Nested
    class Format {

        private static final String HEADER =
                "{\"file\":1,\"line\":0,\"record\":{\"format\":\"dra4j-claims\",\"version\":1}";

        private static final String RECORD = """
                {"file":1,"line":1,"claim":"uid-1","record":{"put":{\
                "ref":{"namespace":"ns","name":"claim","uid":"uid-1"},\
                "phase":"STARTED","bootId":"boot-1","devices":[{"request":"req","pool":"node",\
                "device":"gpu-0","shareId":"0f8fad5b-d9cb-469f-a165-70867728950e",\
                "consumedCapacity":{"memory":"80Gi"},"adminAccess":true}]""";

        @Test
        void isWhatEarlierReleasesWrote() throws IOException {
            String forget = "{\"file\":1,\"line\":2,\"claim\":\"uid-2\",\"record\":{\"forget\":\"uid-2\"}";
            String put = RECORD + ",\"fromTheFuture\":1}}";
            Files.writeString(file, line(HEADER) + line(put) + line(forget));

            assertThat(reread()).containsExactly(started("uid-1"));
            assertThat(directory.resolve("claims.journal.damaged")).doesNotExist();
        }

        static Stream<Arguments> records() {
            HeldDevice device = started("uid-1").devices().get(0).toBuilder()
                    .physicalId("GPU-x")
                    .build();
            return Stream.of(
                    arguments(started("uid-1"), RECORD + "}}"),
                    arguments(prepared("uid-1"), RECORD.replace("STARTED", "PREPARED") + """
                            ,"state":{"version":3,"json":"{\\"instance\\":7}"},\
                            "answer":{"devices":[],"edits":{"env":{"CLAIM":"uid-1"},\
                            "deviceNodes":[],"mounts":[],"hooks":[],"netDevices":[],\
                            "additionalGids":[]}}}}"""),
                    arguments(of(started("uid-1").devices(), List.of("trainer")), RECORD + ",\"pods\":[\"trainer\"]}}"),
                    arguments(
                            of(List.of(device), null),
                            RECORD.replace("true}]", "true,\"physicalId\":\"GPU-x\"}]") + "}}"));
        }

        @ParameterizedTest
        @MethodSource("records")
        void isWhatIsWrittenNow(ClaimRecord record, String line) throws IOException {
            written(record);

            assertThat(Files.readString(file)).isEqualTo(line(HEADER) + line(line));
            assertThat(reread()).containsExactly(record);
        }

        @Test
        void ofALaterReleaseIsRefusedWithAdvice() throws IOException {
            Files.writeString(file, line(HEADER.replace("\"version\":1", "\"version\":2")));

            assertFails(
                    JournalTest.this::open,
                    "Can't read the journal " + file,
                    "format version 2, this release reads up to 1");
        }

        @Test
        void withAWordOfALaterReleaseIsRefusedWithAdviceAndNoDamage() throws IOException {
            String later = line(HEADER) + line(RECORD.replace("STARTED", "FROZEN") + "}}");
            Files.writeString(file, later);

            assertFails(JournalTest.this::open, "a record of a newer release of the driver (Phase FROZEN)");
            assertThat(file).hasContent(later);
        }

        private static ClaimRecord of(List<HeldDevice> devices, @Nullable List<String> pods) {
            ClaimRecord plain = started("uid-1");
            return new ClaimRecord(plain.ref(), plain.phase(), plain.bootId(), devices, null, null, null, null, pods);
        }

        private String line(String start) {
            CRC32C crc = new CRC32C();
            crc.update(start.getBytes(StandardCharsets.UTF_8));
            return start + String.format(",\"crc32c\":\"%08x\"}%n", crc.getValue());
        }
    }

    @Nested
    class WriteError {

        @Test
        void ofAClosedJournalSaysSo() {
            Journal journal = open();
            journal.close();
            journal.close();

            assertFails(() -> journal.put(started("uid-1")), "is closed: the driver has stopped");
        }

        @Test
        void ofADirectoryThatIsNoneNamesTheFile() throws IOException {
            file = directory.resolve("no/such");
            assertFails(JournalTest.this::open, "no/such", "check that its directory exists");

            file = Files.createFile(directory.resolve("a file")).resolve("claims.journal");
            assertFails(JournalTest.this::open, "Not a directory");
        }
    }

    @Nested
    class Inspection {

        private long wrong;

        @BeforeEach
        void write() {
            try (Journal journal = open()) {
                journal.put(started("uid-1"));
                journal.put(full("uid-1"));
                journal.put(full("uid-2"));
                journal.forget("uid-2");
            }
        }

        private List<String> rows() {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            wrong = Journal.inspect(file, new PrintStream(out, true, StandardCharsets.UTF_8));
            return out.toString(StandardCharsets.UTF_8)
                    .lines()
                    .map(row -> row.strip().replaceAll(" +", " "))
                    .toList();
        }

        private void alter(int line, String text) throws IOException {
            List<String> lines = Files.readAllLines(file);
            lines.set(line, text);
            Files.write(file, lines);
        }

        @Test
        void hasARowForEachLine() {
            assertThat(rows())
                    .containsExactly(
                            "FILE.LINE PHASE UID CLAIM BOOT STATE DEVICES",
                            "1.0 (header) format version 1",
                            "1.1 PREPARING uid-1 ns/claim boot-1 - node/gpu-0",
                            "1.2 PREPARED uid-1 ns/claim boot-1 14 node/gpu-0",
                            "1.3 PREPARED uid-2 ns/claim boot-1 14 node/gpu-0",
                            "1.4 (forgotten) uid-2");
            assertThat(wrong).isZero();
        }

        @Test
        void marksDamagedLinesAndMissingOnesAndPrintsNothingElseOfThem() throws IOException {
            String damaged = Files.readAllLines(file).get(3).replace("PREPARED", "\u001b[31mX");
            alter(2, damaged);
            alter(3, "");

            assertThat(rows())
                    .containsSubsequence(
                            "1.1 PREPARING uid-1 ns/claim boot-1 - node/gpu-0",
                            "? (damaged) uid-2",
                            "? (missing) 1 lines",
                            "1.4 (forgotten) uid-2");
            assertThat(wrong).isEqualTo(2);
        }

        @Test
        void leavesTheFilesAsTheyAreAndATornLineIsNoDamage() throws IOException {
            byte[] whole = Files.readAllBytes(file);
            Files.write(file, Arrays.copyOf(whole, whole.length - 5));
            byte[] before = Files.readAllBytes(file);

            assertThat(rows()).endsWith("? (torn)");

            assertThat(wrong).isZero();
            assertThat(file).hasBinaryContent(before);
        }

        @Test
        void ofNoFileIsAnErrorThatNamesIt() {
            file = directory.resolve("no-such");

            assertFails(this::rows, "Can't read the journal " + file);
            assertThat(file).doesNotExist();
        }
    }

    @Test
    void aBootIdIsReadBelowTheProcRootUnlessItIsMissingOrEmpty() throws IOException {
        assertFails(() -> BootId.read(directory), directory + "/sys/kernel/random/boot_id");

        writeBootId(" \n");
        assertFails(() -> BootId.read(directory), "Empty boot id in " + directory);

        writeBootId("3f1c6f0e-7a1b-4b43-9d4e-0f6a4a5f2f11\n");

        assertThat(BootId.read(directory)).isEqualTo("3f1c6f0e-7a1b-4b43-9d4e-0f6a4a5f2f11");
    }

    private void writeBootId(String content) throws IOException {
        Path kernel = Files.createDirectories(directory.resolve("sys/kernel/random"));
        Files.writeString(kernel.resolve("boot_id"), content);
    }

    /** Two who have one journal open, step by step. */
    @Nested
    class OfTwoProcesses {

        @AutoClose
        private LockFile newLocks;

        @AutoClose
        private Journal older;

        @AutoClose
        private Journal newer;

        @BeforeEach
        void openBoth() {
            older = open();
            older.put(full("uid-1"));
            newLocks = openLockFile();
            newer = Records.openWithoutSync(file, newLocks);
        }

        private void assertBothSay(ClaimRecord... claims) {
            assertThat(older.claims()).containsExactly(claims);
            assertThat(newer.claims()).containsExactly(claims);
            try (LockFile others = openLockFile();
                    Journal third = Records.openWithoutSync(file, others)) {
                assertThat(third.claims()).containsExactly(claims);
                assertThat(third.loss()).isEqualTo(JournalLoss.NONE);
            }
            assertThat(List.of(older.loss(), newer.loss())).containsOnly(JournalLoss.NONE);
        }

        @Test
        void eachSeesAtOnceWhatTheOtherWrote() {
            newer.put(started("uid-2"));
            assertThat(older.claim("uid-2")).contains(started("uid-2"));
            older.put(full("uid-2"));
            newer.forget("uid-1");

            assertBothSay(full("uid-2"));
        }

        @Test
        void oneGoesOnWhenTheOtherHasCompacted() {
            for (int i = 0; i < 1100; i++) {
                newer.put(started("uid-2"));
            }
            older.put(full("uid-3"));
            for (int i = 0; i < 1100; i++) {
                older.put(started("uid-2"));
            }
            newer.put(full("uid-4"));

            assertBothSay(full("uid-1"), started("uid-2"), full("uid-3"), full("uid-4"));
        }

        @Test
        void theEndOfOneLosesNothingOfTheOther() {
            older.forget("uid-1");
            older.close();
            newer.put(started("uid-2"));

            assertThat(newer.claims()).containsExactly(started("uid-2"));
            assertThat(newer.loss()).isEqualTo(JournalLoss.NONE);
        }

        @Test
        void halfALineOfOneThatDiedIsCutByTheOther() throws IOException {
            Files.writeString(file, "{\"file\":1,\"line\":2,\"cla", StandardOpenOption.APPEND);

            assertThat(older.claims()).containsExactly(full("uid-1"));
            newer.put(started("uid-2"));

            assertThat(older.claims()).hasSize(2);
            assertThat(older.loss()).isEqualTo(new JournalLoss(true, 0, Set.of(), true));
        }

        @Test
        void aFileThatIsRemovedByHandIsWrittenAgainFromMemory() throws IOException {
            newer.put(started("uid-2"));
            assertThat(older.claims()).hasSize(2);
            Files.delete(file);

            older.put(full("uid-3"));

            assertBothSay(full("uid-1"), started("uid-2"), full("uid-3"));
        }

        @Test
        void aFileThatIsCutByHandIsWrittenAgainFromTheMemoryOfTheOneThatWroteLast() throws IOException {
            newer.put(started("uid-2"));
            try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
                channel.truncate(500);
            }

            assertThat(newer.claims()).hasSize(2);
            assertBothSay(full("uid-1"), started("uid-2"));
        }

        @Test
        void aFileThatIsCutDuringAWriteIsWrittenAgainToo() throws Exception {
            JournalFile.Sync cutting = (channel, metadata) -> {
                if (!metadata) {
                    channel.truncate(500);
                }
            };
            try (Journal cut = open(cutting)) {
                cut.put(started("uid-2"));
                locks.journal().close(); // a write returns before the lock is released

                assertThat(cut.claims()).hasSize(2);
                assertBothSay(full("uid-1"), started("uid-2"));
            }
        }

        @Test
        void aDirectoryThatIsGoneForAWhileFailsWritesAndLosesNothing() throws IOException {
            Path elsewhere = directory.resolveSibling(directory.getFileName() + "-elsewhere");
            Files.move(directory, elsewhere);
            try {
                assertFails(
                        () -> older.put(started("uid-2")),
                        "Can't write the journal " + file,
                        "check that its directory exists");
            } finally {
                Files.move(elsewhere, directory);
            }
            older.put(started("uid-3"));

            assertBothSay(full("uid-1"), started("uid-3"));
        }
    }
}
