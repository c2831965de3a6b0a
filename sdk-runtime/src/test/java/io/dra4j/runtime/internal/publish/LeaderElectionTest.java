// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.cluster.LeaseStore;
import io.dra4j.runtime.internal.cluster.LeaseStore.LeaseTimes;
import io.dra4j.testkit.Scenarios;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two processes and their Lease, on a time that the test moves, as leader-election.txt says: never do both lead. */
class LeaderElectionTest implements ScenarioSteps {

    private static final LeaseTimes TIMES =
            new LeaseTimes(Duration.ofSeconds(15), Duration.ofSeconds(10), Duration.ofSeconds(2));
    private static final Duration STEP = Duration.ofMillis(100);

    private Instant now = Instant.parse("2026-11-21T00:00:00Z");
    private LeaseStore.Lease stored;
    private int version;
    private final Process one = new Process("one");
    private final Process two = new Process("two");

    /** A process, its clocks and its way to the API server. */
    private final class Process implements LeaseStore {
        private final LeaderElection election;
        private final ManualLoop thread = new ManualLoop();
        private Duration skew = Duration.ZERO;
        private Duration latency = Duration.ZERO;
        private boolean paused;
        private boolean cut;
        private boolean outOfThreads;
        private boolean losesAnswers;

        Process(String name) {
            election = new LeaderElection(this, name, TIMES, () -> now, () -> now.plus(skew), thread);
            election.start();
        }

        @Override
        public Optional<Lease> read() {
            arrive();
            return Optional.ofNullable(stored);
        }

        @Override
        public Lease write(Lease lease) {
            arrive();
            if (!lease.resourceVersion().equals(stored == null ? "" : stored.resourceVersion())) {
                throw Failures.status(409);
            }
            version++;
            stored = new Lease(
                    lease.holder(),
                    lease.duration(),
                    lease.acquired(),
                    lease.renewed(),
                    lease.transitions(),
                    "" + version);
            if (losesAnswers) {
                throw Failures.status(504);
            }
            return stored;
        }

        private void arrive() {
            now = now.plus(latency);
            if (cut) {
                throw Failures.status(0);
            }
            if (outOfThreads) {
                throw new OutOfMemoryError("unable to create native thread");
            }
        }

        private void run() {
            if (!paused) {
                thread.advance(STEP);
            }
        }
    }

    private void pass(long seconds) {
        Instant end = now.plusSeconds(seconds);
        while (now.isBefore(end)) {
            now = now.plus(STEP);
            requireOneLeader();
            one.run();
            two.run();
            requireOneLeader();
        }
    }

    private void requireOneLeader() {
        assertThat(one.election.isLeading() && two.election.isLeading())
                .as("both lead at %s, with the Lease %s", now, stored)
                .isFalse();
    }

    @BeforeEach
    void oneLeads() {
        pass(3);
        assertThat(one.election.isLeading()).isTrue();
        assertThat(two.election.get()).isEmpty();
    }

    private Turn turn;

    @Scenarios("leader-election.txt")
    void oneLeadsAtATime(String scenario) throws Exception {
        turn = one.election.get().orElseThrow();
        play(scenario);
    }

    @Override
    public void run(String[] words, String text) {
        switch (words[0]) {
            case "one" -> run(one, words, text);
            case "two" -> run(two, words, text);
            case "pass" -> pass(Long.parseLong(words[1]));
            case "now-is-a-deadline-after" ->
                now = now.minusSeconds(Long.parseLong(words[1]))
                        .plus(TIMES.renewDeadline())
                        .plus(STEP);
            case "another-takes-over" ->
                two.write(new LeaseStore.Lease("other", TIMES.duration(), now, now, 1, stored.resourceVersion()));
            case "transitions" -> assertThat(stored.transitions()).isEqualTo(Integer.parseInt(text));
            case "first-turn" ->
                assertThat(turn.isLost().getAsBoolean() ? "lost" : "kept").isEqualTo(text);
            case "end-first-turn" -> turn.end().run();
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private void run(Process process, String[] words, String text) {
        boolean is = !text.equals("no");
        assertThat(text).matches("|no|\\d+");
        switch (words[1]) {
            case "cut" -> process.cut = is;
            case "paused" -> process.paused = is;
            case "out-of-threads" -> process.outOfThreads = is;
            case "loses-answers" -> process.losesAnswers = is;
            case "latency" -> process.latency = Duration.ofSeconds(Long.parseLong(text));
            case "skew" -> process.skew = Duration.ofSeconds(Long.parseLong(text));
            case "ends-its-turn" -> process.election.get().orElseThrow().end().run();
            case "leads" -> assertThat(process.election.isLeading()).isEqualTo(is);
            case "has-a-turn" -> assertThat(process.election.get().isPresent()).isEqualTo(is);
            case "may-write" -> assertThat(process.election.mayWrite()).isEqualTo(is);
            case "has-a-problem" ->
                assertThat(process.election.problem().isPresent()).isEqualTo(is);
            default -> throw new IllegalArgumentException(words[1]);
        }
    }

    @ParameterizedTest
    @CsvSource({"1", "2", "3", "4", "5", "6", "7", "8"})
    void inAnyOrderOfMishapsOneLeadsAndSoonAfterThem(long seed) {
        Random random = new Random(seed);
        for (int mishap = 0; mishap < 200; mishap++) {
            for (Process process : new Process[] {one, two}) {
                process.paused = random.nextInt(4) == 0;
                process.cut = random.nextInt(4) == 0;
                process.losesAnswers = random.nextInt(4) == 0;
                process.latency = Duration.ofMillis(random.nextInt(3) * 1500L);
                process.skew = process.skew.plusSeconds(random.nextInt(8) == 0 ? random.nextInt(-99, 99) : 0);
            }
            pass(random.nextInt(1, 20));
            Stream.of(one, two).forEach(process -> {
                process.paused = false;
                process.cut = false;
                process.losesAnswers = false;
                process.latency = Duration.ZERO;
            });
            if (random.nextInt(5) == 0) {
                pass(22);
                assertThat(one.election.isLeading() || two.election.isLeading()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"PT15S, PT14.5S, PT2S", "PT15S, PT10S, PT10S", "PT15S, PT10S, PT0S", "PT15.5S, PT10S, PT2S"})
    void timesWithWhichTwoCouldLeadAreRefused(Duration duration, Duration deadline, Duration retry) {
        assertThatThrownBy(() -> new LeaseTimes(duration, deadline, retry))
                .isInstanceOf(DraException.class)
                .hasMessageContaining(duration.toString());
    }
}
