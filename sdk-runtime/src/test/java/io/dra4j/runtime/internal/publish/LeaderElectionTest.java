// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.LeaseStore;
import io.dra4j.runtime.internal.cluster.LeaseStore.LeaseTimes;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two processes and their Lease, on a time that the test moves: never do both lead. */
class LeaderElectionTest {

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

    @Test
    void aLeaderThatGivesItsTurnBackIsFollowedWithinARetryAndDoesNotComeBack() {
        one.election.get().orElseThrow().end().run();

        assertThat(one.election.isLeading()).isFalse();
        pass(3);
        assertThat(two.election.isLeading()).isTrue();
        assertThat(stored.transitions()).isOne();
        pass(60);
        assertThat(two.election.isLeading()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"cut", "hangs", "paused", "suspended", "taken over"})
    void aLeaderThatCantRenewHasLostItsTurnBeforeAnotherLeads(String what) {
        Turn turn = one.election.get().orElseThrow();
        switch (what) {
            case "cut" -> one.cut = true;
            case "hangs" -> one.latency = Duration.ofSeconds(7);
            case "paused" -> one.paused = true;
            case "suspended" -> one.skew = Duration.ofHours(1); // its steady clock does not know
            default ->
                two.write(new LeaseStore.Lease("other", TIMES.duration(), now, now, 1, stored.resourceVersion()));
        }
        one.cut |= !one.latency.isZero();

        pass(what.equals("suspended") ? 0 : 20);

        assertThat(turn.isLost().getAsBoolean()).isTrue();
        assertThat(two.election.isLeading()).isEqualTo(!what.equals("suspended"));
        one.paused = false;
        assertThat(one.election.get()).as("before it has looked at the Lease").isEmpty();
        pass(30);
        assertThat(one.election.isLeading()).isEqualTo(what.equals("suspended"));
        assertThat(turn.isLost().getAsBoolean())
                .as("another turn is another one's")
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({"a clock that jumps and is corrected", "another process that led meanwhile"})
    void aTurnThatWasLostStaysLostAndItsEndDoesNotEndTheCandidacy(String loss) {
        Turn turn = one.election.get().orElseThrow();
        assertThat(one.election.mayWrite()).isTrue();
        if (loss.startsWith("a clock")) {
            one.skew = Duration.ofHours(1);
            assertThat(turn.isLost().getAsBoolean()).isTrue();
            one.skew = Duration.ZERO;
        } else {
            one.paused = true;
            pass(20);
            two.election.get().orElseThrow().end().run();
            one.paused = false;
        }
        pass(5);
        assertThat(one.election.isLeading()).isTrue();

        assertThat(one.election.mayWrite()).isFalse();
        turn.end().run();
        assertThat(one.election.get()).isPresent();
        assertThat(one.election.mayWrite()).isTrue();
    }

    @Test
    void aRightCountsFromBeforeTheRequestThatRenewedIt() {
        one.latency = Duration.ofSeconds(9);
        pass(10);
        one.cut = true;
        one.latency = Duration.ZERO;
        Instant sentAtTheLatest = now.minus(Duration.ofSeconds(9));

        now = sentAtTheLatest.plus(TIMES.renewDeadline()).plus(STEP);

        assertThat(one.election.isLeading()).isFalse();
    }

    @Test
    void aProcessThatWasOutOfThreadsIsACandidateAgain() {
        one.outOfThreads = true;
        two.outOfThreads = true;
        pass(20);
        one.outOfThreads = false;
        pass(20);

        assertThat(one.election.isLeading()).isTrue();
    }

    @Test
    void anAnswerThatIsLostEndsNothing() {
        Turn turn = one.election.get().orElseThrow();
        one.losesAnswers = true;
        pass(6);
        one.losesAnswers = false;
        pass(6);

        assertThat(turn.isLost().getAsBoolean()).isFalse();
        assertThat(one.election.problem()).isEmpty();
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
