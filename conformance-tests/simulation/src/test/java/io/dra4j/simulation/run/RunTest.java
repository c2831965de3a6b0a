// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.simulation.schedule.Simulation;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Plans, runs and shortening, with a world in which a kill between two claims is a failure. */
class RunTest {

    private static final Run.Worlds WORLDS = coverage -> new World() {
        private int created;

        @Override
        public void take(Step step) {
            if (step.action() == Action.KILL && created == 1) {
                coverage.fault("KILL", "prepare", "journal WRITE");
                created = -1;
            } else if (step.action() == Action.CREATE_POD && created >= 0) {
                created++;
            } else if (step.action() == Action.CREATE_POD) {
                requireNoKillBetween();
            }
        }

        @Override
        public void settle() {
            Simulation.await(() -> false, Duration.ofMinutes(1).toNanos());
        }
    };

    private static void requireNoKillBetween() {
        throw new AssertionError("a kill between two claims");
    }

    private static Run failing() {
        return LongStream.range(0, 1000)
                .mapToObj(seed -> Run.of(seed, Plan.of(seed), WORLDS, 10))
                .filter(Run::hasFailed)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void plansHaveAllKindsOfStepsAndSomeOfTheFaultsEach() {
        Set<Action> all = EnumSet.noneOf(Action.class);
        for (long seed = 0; seed < 100; seed++) {
            Set<Action> some = EnumSet.noneOf(Action.class);
            Plan.of(seed).steps().forEach(step -> some.add(step.action()));
            assertThat(some).hasSizeLessThan(Action.values().length - 5);
            assertThat(Plan.of(seed)).isEqualTo(Plan.of(seed));
            all.addAll(some);
        }

        assertThat(all).containsExactly(Action.values());
    }

    @Test
    void shortensARunToTheStepsThatFail() {
        Run run = failing();

        Run shortest = run.shortened(WORLDS, Duration.ofMinutes(1));

        assertThat(run.plan().steps()).hasSizeGreaterThan(3);
        assertThat(shortest.plan().steps())
                .extracting(Step::action)
                .containsExactly(Action.CREATE_POD, Action.KILL, Action.CREATE_POD);
        assertThat(shortest.plan().steps().get(2).millis()).isLessThan(100);
        assertThat(shortest.kind()).isEqualTo(run.kind()).endsWith("RunTest.requireNoKillBetween");
    }

    @Test
    void repeatsAShortenedRunByItsReport() {
        Run shortest = failing().shortened(WORLDS, Duration.ofMinutes(1));

        Run again =
                Run.of(shortest.seed(), Plan.of(shortest.seed(), shortest.plan().names()), WORLDS, 10);

        assertThat(again.sum()).isEqualTo(shortest.sum());
        assertThat(again.report())
                .isEqualTo(shortest.report())
                .contains(
                        "a kill between two claims",
                        "-Dsteps=" + shortest.plan().names(),
                        "plan: KILL");
    }

    @Test
    void countsWhatWasTriedAndWhatNever() {
        Coverage all = new Coverage();
        all.add(failing().coverage());
        all.add(failing().coverage());
        all.fault("REBOOT", "idle", "spec RENAME");

        assertThat(all.count("runs")).isEqualTo(2);
        assertThat(all.toString())
                .contains("faults=3", "runs=2", "KILL REBOOT")
                .containsPattern("prepare +journal WRITE +2 +-")
                .contains("Never tried, KILL: idle spec RENAME", "Never tried, REBOOT: prepare journal WRITE");
    }
}
