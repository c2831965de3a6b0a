// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static io.dra4j.runtime.internal.checkpoint.Records.full;
import static io.dra4j.runtime.internal.checkpoint.Records.prepared;
import static io.dra4j.runtime.internal.checkpoint.Records.started;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class JournalTest extends JournalFixture {

    @Nested
    class Memory {

        @Test
        void survivesWithEveryField() {
            try (Journal journal = open()) {
                journal.put(full("uid-1"));
                journal.put(started("uid-2"));
            }

            assertThat(reread()).containsExactly(full("uid-1"), started("uid-2"));
        }

        @Test
        void survivesAProcessThatDoesNotClose() {
            Journal abandoned = open();
            abandoned.put(full("uid-1"));

            assertThat(reread()).containsExactly(full("uid-1"));
            abandoned.close();
        }

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

        @Test
        void isWhatIsWrittenNow() throws IOException {
            written(started("uid-1"));

            assertThat(Files.readString(file)).isEqualTo(line(HEADER) + line(RECORD + "}}"));
        }

        @Test
        void ofAPreparedClaimHasItsStateAndItsAnswer() throws IOException {
            String prepared = RECORD.replace("STARTED", "PREPARED") + """
                            ,"state":{"version":3,"json":"{\\"instance\\":7}"},\
                            "answer":{"devices":[],"edits":{"env":{"CLAIM":"uid-1"},\
                            "deviceNodes":[],"mounts":[],"hooks":[],"netDevices":[],\
                            "additionalGids":[]}}}}""";
            written(prepared("uid-1"));

            assertThat(Files.readString(file)).isEqualTo(line(HEADER) + line(prepared));
            assertThat(reread()).containsExactly(prepared("uid-1"));
        }

        @Test
        void hasThePodsOfAClaimThatHasSome() throws IOException {
            ClaimRecord with = of(started("uid-1").devices(), List.of("trainer"));
            written(with);

            assertThat(Files.readString(file)).isEqualTo(line(HEADER) + line(RECORD + ",\"pods\":[\"trainer\"]}}"));
            assertThat(reread()).containsExactly(with);
        }

        @Test
        void hasThePhysicalIdOfADeviceThatHasOne() throws IOException {
            HeldDevice device = started("uid-1").devices().get(0).toBuilder()
                    .physicalId("GPU-x")
                    .build();
            ClaimRecord with = of(List.of(device), null);
            written(with);

            String record = RECORD.replace("true}]", "true,\"physicalId\":\"GPU-x\"}]");
            assertThat(Files.readString(file)).isEqualTo(line(HEADER) + line(record + "}}"));
            assertThat(reread()).containsExactly(with);
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
        void ofAMissingDirectoryNamesTheFile() {
            file = directory.resolve("no/such");

            assertFails(JournalTest.this::open, "no/such", "check that its directory exists");
        }

        @Test
        void ofAPathThroughAFileNamesTheFile() throws IOException {
            file = Files.createFile(directory.resolve("a file")).resolve("claims.journal");

            assertFails(JournalTest.this::open, "Not a directory");
        }
    }
}
