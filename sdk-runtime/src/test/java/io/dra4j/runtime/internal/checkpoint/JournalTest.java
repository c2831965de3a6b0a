// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord.Results;
import io.dra4j.runtime.internal.observe.Meters;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTest {

    @TempDir Path directory;
    private Path file;
    private LockFile locks;

    @BeforeEach
    void nameFile() {
        file = directory.resolve("claims.journal");
        locks = LockFile.open(directory.resolve("claims.lock"), InstantSource.system());
    }

    @AfterEach
    void closeLocks() {
        locks.close();
    }

    private Journal open() {
        return Journal.open(file, "boot-1", locks, Meters.none());
    }

    private List<ClaimRecord> reread() {
        try (Journal journal = open()) {
            return journal.claims();
        }
    }

    private byte[] written(ClaimRecord... records) throws IOException {
        try (Journal journal = open()) {
            List.of(records).forEach(journal::put);
            return Files.readAllBytes(file);
        }
    }

    @Nested
    class Memory {

        @Test
        void survivesWithEveryField() {
            try (Journal journal = open()) {
                journal.put(Records.full("uid-1"));
                journal.put(Records.started("uid-2"));
            }

            assertThat(reread()).containsExactly(Records.full("uid-1"), Records.started("uid-2"));
        }

        @Test
        void survivesAProcessThatDoesNotClose() {
            Journal abandoned = open();
            abandoned.put(Records.full("uid-1"));

            assertThat(reread()).containsExactly(Records.full("uid-1"));
            abandoned.close();
        }

        @Test
        void isOfTheLastRecordOfEachClaim() {
            try (Journal journal = open()) {
                journal.put(Records.started("uid-1"));
                journal.put(Records.full("uid-1"));
                journal.put(Records.started("uid-2"));
                journal.forget("uid-2");
                assertThat(journal.claims()).containsExactly(Records.full("uid-1"));
            }

            assertThat(reread()).containsExactly(Records.full("uid-1"));
        }

        @Test
        void ofNothingIsAHeaderAlone() throws IOException {
            try (Journal journal = open()) {
                journal.put(Records.full("uid-1"));
                journal.forget("uid-1");
            }

            assertThat(Files.readAllLines(file))
                    .singleElement()
                    .asString()
                    .startsWith(
                            "{\"file\":2,\"line\":0,\"record\":{\"format\":\"dra4j-claims\",\"version\":1}");
        }

        @Test
        void isReadableByItsOwnerAlone() throws IOException {
            written(Records.started("uid-1"));

            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
        }

        @Test
        void staysSmallHoweverOftenClaimsComeAndGo() throws IOException {
            try (Journal journal = Records.openWithoutSync(file, locks)) {
                journal.put(Records.full("uid-held"));
                for (int i = 0; i < 1100; i++) {
                    journal.put(Records.started("uid-1"));
                }
                assertThat(Files.readAllLines(file)).hasSizeLessThan(200);
                assertThat(journal.claims()).hasSize(2);
            }
            assertThat(reread()).hasSize(2);
        }

        @Test
        void staysSmallThoughItsLinesAreLong() throws IOException {
            ProviderState long60k = new ProviderState(1, "x".repeat(60 << 10));
            ClaimRecord record = Records.full("uid-1");
            try (Journal journal = Records.openWithoutSync(file, locks)) {
                for (int i = 0; i < 100; i++) {
                    journal.put(
                            new ClaimRecord(
                                    record.ref(),
                                    record.phase(),
                                    record.bootId(),
                                    record.devices(),
                                    long60k,
                                    record.answer()));
                    assertThat(Files.size(file)).isLessThan(1200 << 10);
                }
            }
            assertThat(reread()).hasSize(1);
        }

        @Test
        void takesNoRecordThatCouldNotBeReadAgain() {
            ContainerEdits edits = ContainerEdits.builder().env("A", "x".repeat(4 << 20)).build();
            ClaimRecord record = Records.full("uid-1");
            try (Journal journal = open()) {
                assertThatThrownBy(
                                () ->
                                        journal.put(
                                                new ClaimRecord(
                                                        record.ref(),
                                                        record.phase(),
                                                        record.bootId(),
                                                        record.devices(),
                                                        record.state(),
                                                        new Results(List.of(), edits))))
                        .isInstanceOf(DraException.class)
                        .hasMessageContaining("The record of claim uid-1 has 4194");
            }
            assertThat(reread()).isEmpty();
        }

        @Test
        void ofClaimsThatComeTogetherIsCompleteAndOnOneLineEach() throws Exception {
            ExecutorService callers = Executors.newFixedThreadPool(32);
            CountDownLatch go = new CountDownLatch(1);
            try (Journal journal = open()) {
                for (int i = 0; i < 32; i++) {
                    String uid = "uid-" + i;
                    callers.submit(
                            () -> {
                                go.await();
                                journal.put(Records.full(uid));
                                return null;
                            });
                }
                go.countDown();
                callers.shutdown();
                assertThat(callers.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
            }

            assertThat(reread()).hasSize(32);
        }

        @Test
        void isOfAnInterruptedCallerToo() {
            try (Journal journal = open()) {
                Thread.currentThread().interrupt();
                journal.put(Records.started("uid-1"));
                assertThat(Thread.interrupted()).isTrue();
                journal.put(Records.started("uid-2"));
            }

            assertThat(reread()).hasSize(2);
        }
    }

    @Nested
    class Format {

        private static final String HEADER =
                "{\"file\":1,\"line\":0,\"record\":{\"format\":\"dra4j-claims\",\"version\":1}";

        @Test
        void isWhatEarlierReleasesWrote() throws IOException {
            Files.writeString(
                    file,
                    line(HEADER)
                            + line(
                                    """
                    {"file":1,"line":1,"claim":"uid-1","record":{"put":{\
                    "ref":{"namespace":"ns","name":"claim","uid":"uid-1"},\
                    "phase":"STARTED","bootId":"boot-1","devices":[{"request":"req","pool":"node",\
                    "device":"gpu-0","shareId":"0f8fad5b-d9cb-469f-a165-70867728950e",\
                    "consumedCapacity":{"memory":"80Gi"},"adminAccess":true}],"fromTheFuture":1}}""")
                            + line(
                                    "{\"file\":1,\"line\":2,\"claim\":\"uid-2\",\"record\":{\"forget\":\"uid-2\"}"));

            assertThat(reread()).containsExactly(Records.started("uid-1"));
            assertThat(directory.resolve("claims.journal.damaged")).doesNotExist();
        }

        @Test
        void isWhatIsWrittenNow() throws IOException {
            byte[] whole = written(Records.started("uid-1"));

            assertThat(new String(whole, StandardCharsets.UTF_8))
                    .isEqualTo(
                            line(HEADER)
                                    + line(
                                            """
                            {"file":1,"line":1,"claim":"uid-1","record":{"put":{\
                            "ref":{"namespace":"ns","name":"claim","uid":"uid-1"},\
                            "phase":"STARTED","bootId":"boot-1","devices":[{"request":"req","pool":"node",\
                            "device":"gpu-0","shareId":"0f8fad5b-d9cb-469f-a165-70867728950e",\
                            "consumedCapacity":{"memory":"80Gi"},"adminAccess":true}]}}"""));
        }

        @Test
        void ofALaterReleaseIsRefusedWithAdvice() throws IOException {
            Files.writeString(file, line(HEADER.replace("\"version\":1", "\"version\":2")));

            assertThatThrownBy(JournalTest.this::open)
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("Can't read the journal " + file)
                    .hasMessageContaining("format version 2, this release reads up to 1");
        }

        @Test
        void withAWordOfALaterReleaseIsRefusedWithAdviceAndNoDamage() throws IOException {
            String before = Files.readString(Files.write(file, written(Records.started("uid-1"))));
            String record = before.lines().toList().get(1).replace("STARTED", "FROZEN");
            String later = line(HEADER) + line(record.substring(0, record.indexOf(",\"crc32c\":")));
            Files.writeString(file, later);

            assertThatThrownBy(JournalTest.this::open)
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining(
                            "a record of a newer release of the driver (Phase FROZEN)");
            assertThat(file).hasContent(later);
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

            assertThatThrownBy(() -> journal.put(Records.started("uid-1")))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("is closed: the driver has stopped");
        }

        @Test
        void ofAMissingDirectoryNamesTheFile() {
            assertThatThrownBy(
                            () ->
                                    Journal.open(
                                            directory.resolve("no/such"),
                                            "boot-1",
                                            locks,
                                            Meters.none()))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("no/such")
                    .hasMessageContaining("see that its directory is there");
        }

        @Test
        void ofAPathThroughAFileNamesTheFile() throws IOException {
            Path wrong = Files.createFile(directory.resolve("a file")).resolve("claims.journal");

            assertThatThrownBy(() -> Journal.open(wrong, "boot-1", locks, Meters.none()))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("Not a directory");
        }
    }
}
