// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
import static io.dra4j.runtime.internal.checkpoint.Records.full;
import static io.dra4j.runtime.internal.checkpoint.Records.prepared;
import static io.dra4j.runtime.internal.checkpoint.Records.record;
import static io.dra4j.runtime.internal.checkpoint.Records.started;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.Scenarios;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class JournalTest extends JournalFixture implements ScenarioSteps {

    @Nested
    class Memory {

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

    private final Map<String, Journal> open = new HashMap<>();
    private final List<LockFile> otherLocks = new ArrayList<>();
    private List<String> lines = List.of();
    private List<String> copy = List.of();
    private JournalLoss loss = JournalLoss.NONE;

    @AfterEach
    void close() {
        open.values().forEach(Journal::close);
        otherLocks.forEach(LockFile::close);
    }

    private Journal openByAnother(JournalFile.Sync sync) {
        LockFile own = openLockFile();
        otherLocks.add(own);
        return Journal.open(new JournalStore.Place(file, "boot-1", own, Meters.none(), sync));
    }

    /** Syncs as a disk whose file is cut meanwhile. */
    private static void cut(FileChannel channel, boolean metadata) throws IOException {
        if (!metadata) {
            channel.truncate(500);
        }
    }

    private static String shown(JournalLoss loss) {
        return list(Stream.of(
                        loss.tornTail() ? "torn" : "",
                        loss.damagedLines() > 0 ? loss.damagedLines() + " damaged" : "",
                        loss.uids().stream().sorted().collect(Collectors.joining(" ")),
                        loss.complete() ? "" : "incomplete")
                .filter(part -> !part.isEmpty()));
    }

    /** Writes the lines that a step has changed. */
    private void rewrite(List<String> changed) throws IOException {
        lines = new ArrayList<>(changed);
        Files.writeString(file, lines.stream().map(line -> line + "\n").collect(Collectors.joining()), ISO_8859_1);
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        Stream<String> rest = Stream.of(words).skip(1);
        switch (words[0]) {
            case "written" -> lines = written(rest.map(Records::record).toArray(ClaimRecord[]::new));
            case "forgotten" -> {
                try (Journal journal = open()) {
                    journal.forget(words[1]);
                }
                lines = new ArrayList<>(Files.readAllLines(file, ISO_8859_1));
            }
            case "found-all" -> {
                try (Journal journal = open()) {
                    journal.foundAll();
                    assertThat(journal.loss().complete()).isTrue();
                }
            }
            case "replace" -> {
                String[] parts = text.split(" by ");
                int line = Integer.parseInt(words[1]);
                lines.set(line, lines.get(line).replace(parts[0], parts[1]));
                rewrite(lines);
            }
            case "zero" -> {
                lines.set(Integer.parseInt(words[1]), "\0".repeat(100));
                rewrite(lines);
            }
            case "join" -> { // the line feed behind a line becomes an X
                int line = Integer.parseInt(words[1]);
                String next = line + 1 < lines.size() ? lines.remove(line + 1) : "";
                lines.set(line, lines.get(line) + "X" + next);
                rewrite(lines);
            }
            case "remove-line" -> {
                lines.remove(Integer.parseInt(words[1]));
                rewrite(lines);
            }
            case "insert-long" -> {
                lines.add(1, words[1].repeat(700_000));
                rewrite(lines);
            }
            case "lose-last-byte" ->
                Files.write(file, Arrays.copyOf(Files.readAllBytes(file), (int) Files.size(file) - 1));
            case "keep-copy" -> copy = lines;
            case "bring-copy-back" -> rewrite(copy);
            case "delete" -> Files.delete(file);
            case "lock-file-forgets" -> locks.lastLine(locks.lastLine().plus(-Integer.parseInt(words[1])));
            default -> compare(words, text);
        }
    }

    private void compare(String[] words, String text) throws Exception {
        Path aside = directory.resolve("claims.journal.damaged");
        switch (words[0]) {
            case "header-has" -> assertThat(lines.get(0)).contains(text);
            case "reread" -> {
                try (Journal journal = open()) {
                    loss = journal.loss();
                    assertThat(list(Records.shown(journal.claims()).sorted())).isEqualTo(text);
                }
            }
            case "loss" -> assertThat(shown(loss)).isEqualTo(text);
            case "unknown-devices" -> {
                try (Journal journal = open()) {
                    ClaimRecord held = journal.claim(words[1]).orElseThrow();
                    assertThat(held.ref()).isEqualTo(full(words[1]).ref());
                    assertThat(held.devices()).isEmpty();
                }
            }
            case "aside-is-last-line" ->
                assertThat(Files.readString(aside, ISO_8859_1)).isEqualTo(lines.get(lines.size() - 1) + "\n");
            case "aside-bytes" -> assertNumber(Files.size(aside), words, text);
            default -> process(words, text);
        }
    }

    /** Does what one of several processes does, which the first word names. */
    private void process(String[] words, String text) throws Exception {
        Journal journal = open.get(words[0]);
        switch (words[1]) {
            case "opens" ->
                open.put(words[0], words[0].equals("older") ? open() : openByAnother((channel, meta) -> {}));
            case "opens-on-a-disk-that-cuts" -> open.put(words[0], open(JournalTest::cut));
            case "puts" -> journal.put(record(words[2]));
            case "is-interrupted-and-puts" -> {
                Thread.currentThread().interrupt();
                journal.put(record(words[2]));
                assertThat(Thread.interrupted()).isTrue();
            }
            case "cannot-put" -> assertFails(() -> journal.put(record(words[2])), text.split(" \\| "));
            case "forgets" -> journal.forget(words[2]);
            case "closes" -> journal.close();
            case "has" -> assertThat(list(Records.shown(journal.claims()))).isEqualTo(text);
            case "lost" -> assertThat(shown(journal.loss())).isEqualTo(text);
            case "have" -> {
                open.put("third", openByAnother((channel, metadata) -> {}));
                assertThat(open.values())
                        .allSatisfy(each ->
                                assertThat(list(Records.shown(each.claims()))).isEqualTo(text))
                        .allSatisfy(each -> assertThat(each.loss()).isEqualTo(JournalLoss.NONE));
            }
            case "ends-writing" -> locks.journal().close(); // a write returns before the lock is released
            case "writes-half-a-line" ->
                Files.writeString(file, "{\"file\":1,\"line\":2,\"cla", StandardOpenOption.APPEND);
            case "cuts" -> {
                try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
                    channel.truncate(500);
                }
            }
            case "deletes" -> Files.delete(file);
            case "moves-the-directory" -> Files.move(directory, elsewhere());
            case "moves-it-back" -> Files.move(elsewhere(), directory);
            case "has-less-than-200-lines" ->
                assertThat(Files.readAllLines(file)).hasSizeLessThan(200);
            default -> throw new IllegalArgumentException(words[1]);
        }
    }

    private Path elsewhere() {
        return directory.resolveSibling(directory.getFileName() + "-elsewhere");
    }

    @Scenarios({"journals-of-processes.txt", "journal-damage.txt"})
    void claimsAreThoseOfTheLastRecordsOrHeldAsDamaged(String scenario) throws Exception {
        play(scenario);
    }
}
