// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import static io.dra4j.runtime.process.TestDriver.NAME;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A node of its own, on which one driver process after the other dies at a step of its work. */
final class CrashNode implements AutoCloseable {

    private static final int SIGKILL = 128 + 9;

    /** The kind of driver, by what it changes. */
    enum Kind {
        /** Nothing but the SDK's own files, and it says so: the journal is synced once for a prepare. */
        PLAIN,
        /** Hardware, and it records what. */
        HARDWARE
    }

    final TestNode testNode = TestDriver.node();
    final CrashPoints points;
    final Path journal = testNode.place().plugins().resolve(NAME + "/claims.journal");
    private final Path hardware = Files.createDirectory(testNode.place().root().resolve("hardware"));
    private final Kind kind;

    CrashNode(Path library, Kind kind) throws IOException, InterruptedException {
        this.kind = kind;
        Place place = testNode.place();
        points = new CrashPoints(library, place.root(), journal.getParent(), place.cdi(), hardware);
        testNode.environment().putAll(points.environment());
    }

    /** Starts the driver; returns whether it lives, which it must if no death was arranged. */
    boolean start() throws InterruptedException {
        return kind == Kind.HARDWARE
                ? testNode.startRegistered("--hardware", hardware.toString())
                : testNode.startRegistered();
    }

    void startUnharmed() throws IOException, InterruptedException {
        points.pass();
        assertThat(start()).as(testNode::logTail).isTrue();
    }

    CallResult prepare(List<KubeletClaim> claims) {
        return testNode.kubelet().prepare(NAME, claims);
    }

    CallResult unprepare(List<KubeletClaim> claims) {
        return testNode.kubelet().unprepare(NAME, claims);
    }

    /** Returns whether the step was reached, now or by work that goes on; the driver is dead then. */
    boolean died(long step) throws IOException, InterruptedException {
        if (points.steps().size() < step) {
            return false;
        }
        assertThat(testNode.awaitExit()).as("killed by the library").isEqualTo(SIGKILL);
        return true;
    }

    ClaimResult assertPrepared(KubeletClaim claim) throws IOException {
        CallResult result = prepare(List.of(claim));
        assertThat(result.complaint()).as(testNode::logTail).isEmpty();
        ClaimResult answer = result.results().get(claim.uid());
        assertThat(answer.devices()).isNotEmpty();
        assertThat(specOf(claim)).exists();
        return answer;
    }

    void assertUnprepared(KubeletClaim claim) {
        assertThat(unprepare(List.of(claim)).complaint()).as(testNode::logTail).isEmpty();
        assertThat(specOf(claim)).doesNotExist();
    }

    Path specOf(KubeletClaim claim) {
        return testNode.place().cdi().resolve("k8s." + NAME + "-claim_" + claim.uid() + ".json");
    }

    /** Nothing of any claim is in the CDI directory or in the hardware. */
    void assertNothingLeft() throws IOException {
        assertThat(specs()).isEmpty();
        assertThat(hardwareInUse()).isEmpty();
    }

    /**
     * The files in the CDI directory; half-written ones of a killed process, which runtimes pass
     * over and starts remove once no process can still write them, are not among them.
     */
    List<String> specs() throws IOException {
        return testNode.specs().stream().filter(name -> !name.endsWith(".tmp")).toList();
    }

    /** Lets time pass for half-written files: the next start removes them. */
    private void ageTemporaries() throws IOException {
        FileTime old = FileTime.from(Instant.now().minus(Duration.ofHours(1)));
        for (String name : testNode.specs()) {
            if (name.endsWith(".tmp")) {
                Files.setLastModifiedTime(testNode.place().cdi().resolve(name), old);
            }
        }
    }

    List<String> hardwareInUse() throws IOException {
        try (Stream<Path> files = Files.list(hardware)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    /** Every device can be had, the driver stops well, and its journal knows of no claim. */
    void assertGoodEnd() throws IOException, InterruptedException {
        String[] all = IntStream.range(0, 8).mapToObj(i -> "gpu-" + i).toArray(String[]::new);
        KubeletClaim everything = testNode.allocate("everything", all);
        assertPrepared(everything);
        assertUnprepared(everything);
        testNode.delete(everything);
        assertNothingLeft();
        testNode.kill();
        ageTemporaries();
        startUnharmed();
        assertThat(testNode.specs()).as("after a start, an hour later").isEmpty();
        assertThat(testNode.terminate()).as(testNode::logTail).isZero();
        assertThat(Files.readString(journal)).doesNotContain("\"uid\"");
    }

    /** Runs tasks, two at a time, and returns their results when all are done. */
    static <T> List<T> inParallel(List<? extends Callable<T>> tasks) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<T> done = new ArrayList<>();
            for (Future<T> task : threads.invokeAll(tasks)) {
                done.add(task.get());
            }
            return done;
        } finally {
            threads.shutdownNow();
        }
    }

    @Override
    public void close() {
        testNode.close();
    }
}
