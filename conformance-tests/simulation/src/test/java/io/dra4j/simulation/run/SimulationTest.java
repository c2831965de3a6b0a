// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.dra4j.simulation.rewrite.RewritingLoader;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.slf4j.LoggerFactory;

/** The unchanged driver in a simulated cluster: the same seeds in each gate, and new ones each night. */
public class SimulationTest {

    private static final int SEEDS = 20;
    private static final int LINES = 400;
    private static final int AT_A_TIME = 2;
    private static final long APART = 1_000_000_000;
    private static final Path SUMS = Path.of("src/test/resources/io/dra4j/simulation/run/sums.txt");
    private static final Duration SHORTENING = Duration.ofMinutes(3);

    private final RewritingLoader loader = RewritingLoader.ofRuntime();
    private final Run.Worlds worlds = coverage -> new SimulatedWorld(coverage, loader);

    /** Each fault would be logged, and the trace has them. */
    @BeforeAll
    public static void silence() {
        ((Logger) LoggerFactory.getLogger("io.dra4j.runtime"))
                .setLevel(Level.toLevel(System.getProperty("log"), Level.OFF));
    }

    /** The checksums of the traces are in a file, because runs are the same on each JDK and machine. */
    @Test
    void seedsOfTheGateDoWhatTheyAlwaysDid() throws IOException {
        List<String> sums = new ArrayList<>();
        Coverage coverage = new Coverage();
        for (long seed = 1; seed <= SEEDS; seed++) {
            Run run = Run.of(seed, Plan.of(seed), worlds, 0);
            requirePassed(run);
            coverage.add(run.coverage());
            sums.add(seed + " " + Long.toHexString(run.sum()));
        }
        if (Boolean.getBoolean("reference.update")) {
            Files.write(SUMS, sums);
        }

        assertThat(stored())
                .as("what runs do has changed; -Dreference.update=true takes it")
                .isEqualTo(sums);
        assertThat(coverage.count("crashes")).isGreaterThan(SEEDS);
        assertThat(coverage.count("prepares")).isGreaterThan(SEEDS);
    }

    private static List<String> stored() throws IOException {
        return Files.readAllLines(SUMS);
    }

    private void requirePassed(Run run) {
        if (run.hasFailed()) {
            Run shortest = Run.of(run.seed(), run.plan(), worlds, LINES).shortened(worlds, SHORTENING);
            throw new AssertionError(shortest.report(), shortest.failure());
        }
    }

    @Test
    void aRunRepeatsByItsSeed() {
        Run one = Run.of(SEEDS + 1, Plan.of(SEEDS + 1), worlds, LINES);
        Run two = Run.of(SEEDS + 1, Plan.of(SEEDS + 1), worlds, LINES);

        assertThat(two.trace()).isEqualTo(one.trace()).hasSize(LINES);
        assertThat(two.sum()).isEqualTo(one.sum());
    }

    /** A static field of the runtime's classes would keep the disk, and with it the whole run, in memory. */
    @Test
    void nothingOutlivesARun() throws ReflectiveOperationException {
        Run.of(SEEDS + 1, Plan.of(SEEDS + 1), worlds, 0);

        Field open = loader.loadClass("io.dra4j.runtime.internal.checkpoint.LockRanges")
                .getDeclaredField("OPEN");
        open.setAccessible(true);
        assertThat((Map<?, ?>) open.get(null)).isEmpty();
    }

    /**
     * Runs only with {@code -Dsimulation.minutes}, which is 60 at night; {@code -Dsimulation.from} gives the first
     * seed. Two searches share a JVM, each with its own classes of the runtime: on JDK 17, each has its own processor,
     * while virtual threads share one.
     */
    @Test
    @Tag("nightly")
    @EnabledIfSystemProperty(named = "simulation.minutes", matches = "\\d+")
    void newSeedsPassToo() throws InterruptedException, ExecutionException {
        long first = Long.getLong("simulation.from", new SplittableRandom().nextLong(Integer.MAX_VALUE));
        List<Callable<Optional<Run>>> searches = LongStream.range(0, AT_A_TIME)
                .<Callable<Optional<Run>>>mapToObj(i -> () -> searchedFrom(first + i * APART))
                .toList();
        ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME);
        try {
            for (Future<Optional<Run>> search : threads.invokeAll(searches)) {
                search.get().ifPresent(this::requirePassed);
            }
        } finally {
            threads.shutdown();
        }
    }

    private static Optional<Run> searchedFrom(long seed) {
        RewritingLoader own = RewritingLoader.ofRuntime();
        Search search = new Search(coverage -> new SimulatedWorld(coverage, own));
        Duration limit = Duration.ofMinutes(Integer.getInteger("simulation.minutes", 60));
        Optional<Run> failed = search.firstFailure(seed, limit);
        System.out.println("From seed " + seed + ": " + search);
        return failed;
    }

    /** Runs one seed, or only those of its steps that {@code -Dsteps} names, and prints its trace; for a debugger. */
    @Test
    @EnabledIfSystemProperty(named = "seed", matches = "\\d+")
    void theSeedThatIsGiven() {
        long seed = Long.getLong("seed");
        String steps = System.getProperty("steps");
        Run run = Run.of(seed, steps == null ? Plan.of(seed) : Plan.of(seed, steps), worlds, Integer.MAX_VALUE);
        System.out.println(run.report());
        if (run.hasFailed()) {
            throw new AssertionError(run.kind(), run.failure());
        }
    }
}
