// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.testkit.driver.JavaProgram;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two processes on one journal, of which one after the other is killed in the middle of its work,
 * and comes again later.
 *
 * <p>Each holds devices for claims of its own, if they are free, and gives them back; it says so
 * before and after each step. So afterwards it is known what must be in the journal: the last step
 * that was acknowledged, or the one that was going on.
 */
@Tag("gate")
@Tag("counts")
@Timeout(300)
class JournalProcessesTest {

    private static final int KILLS = Boolean.getBoolean("dra4j.nightly") ? 12 : 2;
    private static final int STEPS_BEFORE_A_KILL = 60;
    private static final long SEED = 7;

    @TempDir
    Path directory;

    private final Map<String, String> begun = new HashMap<>();
    private final Map<String, String> done = new HashMap<>();
    private final List<Running> workers = new ArrayList<>();
    private final Set<String> inAStep = new HashSet<>();
    private int steps;
    private int refused;
    private int caughtInAStep;

    @AfterEach
    void killAll() {
        workers.forEach(worker -> worker.process().destroyForcibly());
    }

    @Test
    void loseNothingAndGiveNoDeviceToTwo() throws Exception {
        SplittableRandom random = new SplittableRandom(SEED);
        Deque<String> absent = new ArrayDeque<>(List.of("c"));
        start("a");
        start("b");
        for (int kill = 1; kill <= KILLS; kill++) {
            Running victim = workers.get(0);
            readSteps(workers.get(0), random.nextInt(STEPS_BEFORE_A_KILL));
            readSteps(workers.get(1), random.nextInt(STEPS_BEFORE_A_KILL));
            start(absent.remove());
            stop(victim);
            absent.add(victim.name());
            compare();
        }
        while (!workers.isEmpty()) {
            stop(workers.get(0));
        }
        compare();
        System.out.printf(
                "two processes on one journal, seed %d: %d kills, %d of them within a step, %d"
                        + " steps acknowledged, %d refused since the other held the device, nothing"
                        + " lost%n",
                SEED, KILLS + 2, caughtInAStep, steps, refused);
        assertThat(steps).isGreaterThan(KILLS);
    }

    private void start(String name) throws IOException {
        workers.add(Running.start(directory, name));
    }

    /** Kills a process, and reads what it had output. */
    private void stop(Running victim) throws Exception {
        victim.process().toHandle().destroyForcibly(); // the process itself would close the pipe
        assertThat(victim.process().waitFor(20, TimeUnit.SECONDS)).isTrue();
        readSteps(victim, Integer.MAX_VALUE);
        workers.remove(victim);
        caughtInAStep += inAStep.remove(victim.name()) ? 1 : 0;
    }

    private void readSteps(Running worker, int count) throws IOException {
        BufferedReader output = worker.output();
        for (int i = 0; i < count; i++) {
            String line = output.readLine();
            if (line == null) {
                return;
            }
            String[] words = line.split(" ");
            switch (words[0]) {
                case "begin" -> {
                    begins(words[2], words[1]);
                    inAStep.add(worker.name());
                    continue;
                }
                case "done" -> {
                    done.put(words[2], begun.remove(words[2]));
                    steps++;
                }
                case "refused" -> {
                    begun.remove(words[2]);
                    refused++;
                }
                default -> throw new AssertionError(line);
            }
            inAStep.remove(worker.name());
        }
    }

    /**
     * A worker begins what it can: who begins to hold has found the claim free, and the other way
     * round. So that tells, too, what became of a step within which its earlier life was killed.
     */
    private void begins(String uid, String step) {
        String found = step.equals("hold") ? "free" : "hold";
        String acknowledged = done.getOrDefault(uid, "free");
        assertThat(found)
                .as("%s, of which %s was acknowledged, found by its owner", uid, acknowledged)
                .isIn(acknowledged, begun.getOrDefault(uid, acknowledged));
        done.put(uid, found);
        begun.put(uid, step);
    }

    /** Compares the journal with what the dead have output; the living go on meanwhile. */
    private void compare() {
        try (LockFile locks = LockFile.open(directory.resolve("claims.lock"), InstantSource.system());
                Journal journal = Records.openWithoutSync(directory.resolve("claims.journal"), locks)) {
            List<ClaimRecord> claims = journal.claims();
            assertThat(journal.loss()).isIn(Loss.NONE, new Loss(true, 0, Set.of(), true));
            List<String> devices = claims.stream()
                    .map(claim -> claim.devices().get(0).device().value())
                    .toList();
            assertThat(devices).as("devices held").doesNotHaveDuplicates();
            assertThat(claims).allMatch(claim -> claim.phase() != Phase.DAMAGED);
            Map<String, String> held =
                    claims.stream().collect(Collectors.toMap(c -> c.ref().uid(), c -> "hold"));
            done.forEach((uid, step) -> {
                if (workers.stream().noneMatch(worker -> worker.owns(uid))) {
                    assertThat(held.getOrDefault(uid, "free"))
                            .as("%s, of which %s was acknowledged", uid, step)
                            .isIn(step, begun.getOrDefault(uid, step));
                }
            });
        }
    }

    /** A process, and its output: what it begins, and what is done or refused. */
    private record Running(String name, Process process, BufferedReader output) {

        static Running start(Path directory, String name) throws IOException {
            List<String> command = new ArrayList<>(new JavaProgram(
                            directory, JavaProgram.SHORT_LIVED, JavaProgram.ownClassPath(), Worker.class.getName())
                    .command());
            command.addAll(List.of(directory.toString(), name));
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            return new Running(name, process, process.inputReader());
        }

        boolean owns(String uid) {
            return uid.startsWith(name + "-");
        }
    }

    /** A process that holds devices and gives them back, until it is killed. */
    static final class Worker {
        private static final int DEVICES = 12;
        private static final int CLAIMS = 6;

        private Worker() {}

        public static void main(String[] args) {
            Path directory = Path.of(args[0]);
            SplittableRandom random =
                    new SplittableRandom(ProcessHandle.current().pid());
            LockFile locks = LockFile.open(directory.resolve("claims.lock"), InstantSource.system());
            Journal journal = Journal.open(directory.resolve("claims.journal"), "boot-1", locks, Meters.none());
            while (true) {
                String uid = args[1] + "-" + random.nextInt(CLAIMS);
                if (journal.claim(uid).isPresent()) {
                    print("begin free " + uid);
                    journal.forget(uid);
                    print("done free " + uid);
                } else {
                    print("begin hold " + uid);
                    hold(journal, uid, "gpu-" + random.nextInt(DEVICES));
                }
            }
        }

        private static void hold(Journal journal, String uid, String device) {
            try {
                journal.put(Records.started(uid, device), claims -> {
                    if (claims.all().stream().anyMatch(claim -> holds(claim, device))) {
                        throw new DraException("held");
                    }
                });
                print("done hold " + uid);
            } catch (DraException e) {
                if (!"held".equals(e.getMessage())) {
                    throw e;
                }
                print("refused hold " + uid);
            }
        }

        private static boolean holds(ClaimRecord claim, String device) {
            return claim.devices().get(0).device().value().equals(device);
        }

        private static void print(String line) {
            System.out.println(line);
            System.out.flush();
        }
    }
}
