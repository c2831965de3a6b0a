// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.simulation.rewrite.RewritingLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScheduleTest {

    private static final int SEEDS = 200;
    private static final RewritingLoader LOADER = RewritingLoader.of("io.dra4j.simulation.samples.");

    private static int count(String way, long seed, Trace trace) throws Throwable {
        AtomicInteger result = new AtomicInteger();
        IntSupplier counter = LOADER.make(IntSupplier.class, "io.dra4j.simulation.samples.Counters$" + way);
        Simulation.run(seed, trace, () -> result.set(counter.getAsInt()));
        return result.get();
    }

    @Test
    void findsALostUpdateAndTheOrderInWhichNoneIsLost() throws Throwable {
        Set<Integer> counts = new HashSet<>();
        for (long seed = 0; seed < SEEDS; seed++) {
            counts.add(count("Unguarded", seed, new Trace(0)));
        }

        assertThat(counts).containsExactlyInAnyOrder(1, 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Guarded", "Locked", "Waiting"})
    void losesNothingWithTheLocksOfTheCode(String way) throws Throwable {
        for (long seed = 0; seed < SEEDS; seed++) {
            assertThat(count(way, seed, new Trace(0))).as("seed %d", seed).isEqualTo(2);
        }
    }

    @Test
    void findsADeadlock() throws Throwable {
        List<String> ends = new ArrayList<>();
        for (long seed = 0; seed < SEEDS; seed++) {
            try {
                ends.add("" + count("Crossed", seed, new Trace(0)));
            } catch (IllegalStateException e) {
                ends.add(String.valueOf(e.getMessage()).substring(0, 20));
            }
        }

        assertThat(ends).contains("2", "no thread can go on:");
    }

    @Test
    void repeatsARunByItsSeed() throws Throwable {
        Set<Long> sums = new HashSet<>();
        for (long seed = 0; seed < 20; seed++) {
            Trace one = new Trace(100);
            Trace two = new Trace(100);
            count("Guarded", seed, one);
            count("Guarded", seed, two);
            assertThat(two.lines()).isEqualTo(one.lines());
            assertThat(two.sum()).isEqualTo(one.sum());
            sums.add(one.sum());
        }

        assertThat(sums).hasSizeGreaterThan(10);
    }

    @Test
    void passesTimeWithoutWaiting() throws Throwable {
        List<String> events = new ArrayList<>();
        Simulation.run(1, new Trace(0), () -> {
            Simulation.after(Duration.ofHours(2), "later", () -> events.add("two hours"));
            Simulation.pause(Duration.ofHours(1));
            events.add("one hour");
            Simulation.pause(Duration.ofHours(2));
            events.add(Duration.ofNanos(Simulation.nanoTime()).toHours() + " hours");
        });

        assertThat(events).containsExactly("one hour", "two hours", "3 hours");
    }

    @Test
    void endsTheThreadsOfAProcessThatIsKilled() throws Throwable {
        List<String> effects = new ArrayList<>();
        Simulation.run(7, new Trace(0), () -> {
            Process process = Simulation.newProcess("one", "");
            Simulation.start(process, "worker", () -> {
                try {
                    Simulation.pause(Duration.ofSeconds(1));
                    effects.add("slept");
                    Simulation.pause(Duration.ofSeconds(1));
                    effects.add("not reached");
                } finally {
                    effects.add("unwound");
                    Simulation.step("an effect in finally");
                    effects.add("not reached, either");
                }
            });
            Simulation.pause(Duration.ofMillis(1500));
            process.kill();
            Simulation.pause(Duration.ofSeconds(5));
        });

        assertThat(effects).containsExactly("slept", "unwound");
    }

    @Test
    void throwsWhatTheWorldThrows() {
        assertThatThrownBy(() -> Simulation.run(1, new Trace(0), ScheduleTest::directFailing))
                .hasMessage("of another thread");
    }

    private static void directFailing() {
        Simulation.start(Simulation.process(), "other", () -> {
            throw new IllegalArgumentException("of another thread");
        });
        Simulation.pause(Duration.ofSeconds(1));
    }
}
