// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.bugs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.simulation.run.Run;
import io.dra4j.simulation.run.Search;
import io.dra4j.simulation.run.SimulatedWorld;
import io.dra4j.simulation.run.SimulationTest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class PlantedBugsTest {

    private static final int MOST_STEPS = 40;

    @BeforeAll
    static void silence() {
        SimulationTest.silence();
    }

    static List<Bug> bugs() {
        return Bug.all();
    }

    /** A class is verified when it is initialized. */
    @ParameterizedTest
    @MethodSource("bugs")
    void eachFitsTheRuntimeAsItIs(Bug bug) throws ClassNotFoundException {
        BuggyLoader loader = new BuggyLoader(bug);

        assertThat(bug.changes()).isNotEmpty();
        for (Change change : bug.changes()) {
            assertThat(Class.forName(change.type(), true, loader).getClassLoader())
                    .isSameAs(loader);
        }
    }

    /** Searches for a minute, and shortens what it finds. */
    @ParameterizedTest
    @MethodSource("bugs")
    @Tag("nightly")
    @EnabledIfSystemProperty(named = "simulation.minutes", matches = "\\d+")
    void eachIsFoundInAMinute(Bug bug) {
        Run run = find(bug, Duration.ofMinutes(1));
        Run shortest = run.shortened(worlds(bug), Duration.ofMinutes(1));

        System.out.println(bug.id() + " " + shortest.report());
        assertThat(shortest.plan().steps()).hasSizeLessThanOrEqualTo(MOST_STEPS);
    }

    /** These show after a few seeds. */
    @ParameterizedTest
    @ValueSource(strings = {"J-11", "J-14", "C-04", "C-03"})
    @Tag("gate")
    void someAreFoundInEachGate(String id) {
        Bug bug = bugs().stream().filter(one -> one.id().equals(id)).findFirst().orElseThrow();

        assertThat(find(bug, Duration.ofMinutes(10)).seed()).isLessThan(10);
    }

    private static Run find(Bug bug, Duration limit) {
        Search search = new Search(worlds(bug));
        Run run = search.firstFailure(1, limit).orElseThrow(() -> new AssertionError(bug + " not found: " + search));
        System.out.println(
                bug.id() + " seed " + run.seed() + ", " + search.took().toSeconds() + " s: " + run.failure());
        return run;
    }

    private static Run.Worlds worlds(Bug bug) {
        BuggyLoader loader = new BuggyLoader(bug);
        return coverage -> new SimulatedWorld(coverage, loader);
    }

    @Test
    void refusesOneThatFitsNowhere() {
        Change gone = Change.of("checkpoint.Journal#forget omit Journal.noSuchMethod");
        BuggyLoader loader = new BuggyLoader(new Bug("X-01", "It is out of date.", List.of(gone)));

        assertThatThrownBy(() -> Class.forName(gone.type(), true, loader)).hasMessageContaining("noSuchMethod");
    }
}
