// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.runtime.process.TestDriver.NAME;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The driver's process dies at some real steps of a prepare and of an unprepare, and in the middle of each write.
 *
 * <p>All steps, in many orders and with all that can go wrong around them, are those of the simulation. These few show that
 * its disk tells the truth: {@code kills.csv}, with what a kill leaves before each step, is the same table for both. A kill
 * leaves what was written, synced or not.
 */
@Tag("slow")
class CrashIT {

    private static final Path KILLS = Path.of("src/test/resources/io/dra4j/runtime/process/kills.csv");
    private static final int ONE_STEP_IN = Boolean.getBoolean("dra4j.full") ? 1 : 3;
    private static final int SIGKILL = 128 + 9;

    @TempDir
    static Path folder;

    private static Path library;

    @AutoClose
    private TestNode node;

    private Path hardware;
    private Path journal;
    private CrashPoints points;
    private String[] options = {};

    @BeforeAll
    static void build() throws Exception {
        library = CrashPoints.build(folder);
    }

    @BeforeEach
    void watch() throws Exception {
        node = TestDriver.node();
        Path root = node.place().root();
        hardware = Files.createDirectory(root.resolve("hardware"));
        journal = node.place().plugins().resolve(NAME + "/claims.journal");
        points =
                new CrashPoints(library, root, journal.getParent(), node.place().cdi(), hardware);
        node.environment().putAll(points.environment());
    }

    /** A row of the table. */
    private record Row(String call, long step, String name, String left) {

        static Row of(String line) {
            String[] cells = line.split(",", 5);
            return new Row(cells[0], Long.parseLong(cells[1]), cells[2], cells[4]);
        }
    }

    @Test
    void theDriverDiesBeforeStepsOfPrepareAndOfUnprepareAndNothingIsLostOrLeft() throws Exception {
        startUnharmed();
        List<String> rows = Files.readAllLines(KILLS);
        for (int i = 1; i < rows.size(); i += ONE_STEP_IN) {
            before(Row.of(rows.get(i)), i);
        }
        assertGoodEnd();
    }

    private void before(Row row, int number) throws Exception {
        KubeletClaim claim = node.allocate("before-" + number, "gpu-0", "gpu-1");
        boolean isPrepare = row.call.equals("prepare");
        if (!isPrepare) {
            assertPrepared(claim);
        }
        points.dieAt(row.step, CrashPoints.Moment.BEFORE);
        CallResult cutOff = isPrepare ? node.prepare(claim) : node.unprepare(claim);
        assertDied(row.step, row + ": " + cutOff);
        assertThat(points.steps().get((int) row.step - 1).name()).isEqualTo(row.name);
        startUnharmed();
        assertThat(left(claim)).as("%s", row).isEqualTo(row.left);
        recover(claim, number % 2 == 0);
    }

    /** Returns the phase of the claim's record, and how many specs and temporary files it has. */
    private String left(KubeletClaim claim) throws IOException {
        String phase = Journal.read(journal, "any").claims().stream()
                .filter(record -> record.ref().uid().equals(claim.uid()))
                .map(record -> record.phase().name())
                .findFirst()
                .orElse("none");
        List<String> files =
                node.specs().stream().filter(name -> name.contains(claim.uid())).toList();
        long temporary = files.stream().filter(name -> name.endsWith(".tmp")).count();
        return "%s,%d,%d".formatted(phase, files.size() - temporary, temporary);
    }

    /** Of hardware that the driver changes, after it has recorded what. */
    @Test
    void theDriverDiesInTheMiddleOfEachWriteAndNothingIsLostOrLeft() throws Exception {
        options = new String[] {"--hardware", hardware.toString()};
        startUnharmed();
        KubeletClaim first = node.allocate("first", "gpu-0", "gpu-1");
        points.dieAt(0, CrashPoints.Moment.HALFWAY); // at no step: they are counted
        assertPrepared(first);
        List<CrashPoints.Step> steps = points.steps();
        recover(first, true);
        for (CrashPoints.Step step : steps) {
            if (step.call().equals("write") && !step.path().endsWith("claims.lock")) {
                KubeletClaim claim = node.allocate("in-" + step.number(), "gpu-0", "gpu-1");
                points.dieAt(step.number(), CrashPoints.Moment.HALFWAY);
                assertDied(step.number(), step + ": " + node.prepare(claim));
                startUnharmed();
                recover(claim, step.number() % 2 == 0);
            }
        }
        assertThat(steps).extracting(CrashPoints.Step::call).contains("write", "create", "fdatasync", "rename");
        assertGoodEnd();
    }

    private void startUnharmed() throws InterruptedException {
        points.pass();
        assertThat(node.startRegistered(options)).as(node::logTail).isTrue();
    }

    private void assertDied(long step, String call) throws IOException {
        assertThat(points.steps()).as(call).hasSizeGreaterThanOrEqualTo((int) step);
        assertThat(node.awaitExit()).as("killed by the library").isEqualTo(SIGKILL);
    }

    private void recover(KubeletClaim claim, boolean isPreparedAgain) throws Exception {
        points.pass();
        if (isPreparedAgain) {
            ClaimResult answer = assertPrepared(claim);
            String spec = Files.readString(specOf(claim));
            assertThat(assertPrepared(claim).wire()).isEqualTo(answer.wire());
            assertThat(specOf(claim)).hasContent(spec);
        }
        end(claim);
    }

    private ClaimResult assertPrepared(KubeletClaim claim) {
        CallResult result = node.prepare(claim);
        assertThat(result.complaint()).as(node::logTail).isEmpty();
        ClaimResult answer = result.results().get(claim.uid());
        assertThat(answer.devices()).isNotEmpty();
        assertThat(specOf(claim)).exists();
        return answer;
    }

    private Path specOf(KubeletClaim claim) {
        return node.place().cdi().resolve("k8s." + NAME + "-claim_" + claim.uid() + ".json");
    }

    /** Nothing is left in the CDI directory or in the hardware, but for half-written files, which runtimes pass over. */
    private void end(KubeletClaim claim) throws IOException {
        node.delete(claim);
        assertThat(node.unprepare(claim).complaint()).as(node::logTail).isEmpty();
        assertThat(node.specs()).allMatch(name -> name.endsWith(".tmp"));
        assertThat(hardware).isEmptyDirectory();
    }

    /** Every device can be had, half-written files are removed, and the journal knows of no claim. */
    private void assertGoodEnd() throws IOException, InterruptedException {
        String[] all = IntStream.range(0, 8).mapToObj(i -> "gpu-" + i).toArray(String[]::new);
        KubeletClaim everything = node.allocate("everything", all);
        assertPrepared(everything);
        end(everything);
        node.kill();
        FileTime old = FileTime.from(Instant.now().minus(Duration.ofHours(1)));
        for (String name : node.specs()) {
            Files.setLastModifiedTime(node.place().cdi().resolve(name), old);
        }
        startUnharmed();
        assertThat(node.specs()).as("after a start, an hour later").isEmpty();
        assertThat(node.terminate()).as(node::logTail).isZero();
        assertThat(Files.readString(journal)).doesNotContain("\"uid\"");
    }

    /**
     * The steps of a process on the files of some directories: counted, and the process killed at one of them, by a library that is preloaded into it ({@code src/test/c/crashpoint.c}).
     */
    private static final class CrashPoints {

        private static final Path SOURCE = Path.of("src/test/c/crashpoint.c");
        private static final int ARMED = 0;
        private static final int COUNT = 1;
        private static final int AT = 2;
        private static final int MOMENT = 3;
        private static final int WORDS = 4;

        private final Path library;
        private final Path control;
        private final Path trace;
        private final List<Path> watched;
        private final LongBuffer page;

        /** When to die, with regard to a step. */
        enum Moment {
            BEFORE,
            /** With half of the bytes written; after the step, if it is not a write. */
            HALFWAY
        }

        /** A step that was counted: a call that changes files or makes a change durable. */
        record Step(long number, String call, Path path) {

            static Step of(String line) {
                String[] parts = line.split(" ", 3);
                return new Step(Long.parseLong(parts[0]), parts[1], Path.of(parts[2]));
            }

            /** The step in words, the same for every claim. */
            String name() {
                String file = path.getFileName().toString();
                return call
                        + " "
                        + file.replaceAll("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID")
                                .replaceAll("[.]d?[0-9a-f]{6,20}(?=[.]|$)", ".RANDOM");
            }
        }

        /**
         * Builds the library with the C compiler of this machine.
         *
         * @return the library, to be used for any number of processes
         */
        static Path build(Path folder) throws IOException, InterruptedException {
            Path library = folder.resolve("crashpoint.so");
            Process compiler = new ProcessBuilder(
                            "sh",
                            "-c",
                            "cc -shared -fPIC -O1 -Wall -Wextra -Werror -o '%s' %s -ldl".formatted(library, SOURCE))
                    .redirectErrorStream(true)
                    .start();
            String said = new String(compiler.getInputStream().readAllBytes());
            if (!compiler.waitFor(60, SECONDS) || compiler.exitValue() != 0) {
                throw new AssertionError("cc could not build " + SOURCE + ":\n" + said);
            }
            return library;
        }

        /** Watches directories of one process after the other; nothing is counted yet. */
        CrashPoints(Path library, Path folder, Path... watched) throws IOException {
            this.library = library;
            this.control = folder.resolve("crashpoint.control");
            this.trace = folder.resolve("crashpoint.trace");
            this.watched = List.of(watched);
            Files.write(control, new byte[WORDS * Long.BYTES]);
            try (FileChannel channel = FileChannel.open(control, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                page = channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) WORDS * Long.BYTES)
                        .order(ByteOrder.nativeOrder())
                        .asLongBuffer();
            }
        }

        /** The environment of a process to be watched. */
        Map<String, String> environment() {
            String folders = watched.stream().map(Path::toString).collect(Collectors.joining(":"));
            return Map.of(
                    "LD_PRELOAD", library.toString(),
                    "CRASHPOINT_CONTROL", control.toString(),
                    "CRASHPOINT_TRACE", trace.toString(),
                    "CRASHPOINT_DIRS", folders);
        }

        /** Counts from here on, and lets the process die at a step. */
        void dieAt(long step, Moment moment) throws IOException {
            page.put(ARMED, 0);
            cutTrace();
            page.put(COUNT, 0);
            page.put(AT, step);
            page.put(MOMENT, moment.ordinal());
            page.put(ARMED, 1);
        }

        /** Lets all steps pass, uncounted. */
        void pass() {
            page.put(ARMED, 0);
        }

        /** The process holds the file open: it must stay the same. */
        private void cutTrace() throws IOException {
            if (Files.exists(trace)) {
                try (FileChannel channel = FileChannel.open(trace, StandardOpenOption.WRITE)) {
                    channel.truncate(0);
                }
            }
        }

        /** The steps that were counted, in order. */
        List<Step> steps() throws IOException {
            if (!Files.exists(trace)) {
                return List.of();
            }
            return Files.readAllLines(trace).stream().map(Step::of).toList();
        }
    }
}
