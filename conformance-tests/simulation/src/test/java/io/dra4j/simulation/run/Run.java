// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.schedule.Trace;
import io.dra4j.simulation.world.Violation;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A run and its outcome.
 *
 * @param failure the invariant that did not hold, or another failure; {@code null} if there was none
 * @param sum the checksum of the trace: two runs with the same one did the same
 * @param trace the last lines of the trace
 */
public record Run(long seed, Plan plan, @Nullable Throwable failure, long sum, List<String> trace, Coverage coverage) {

    static final String MILLIS = "virtual milliseconds";

    /** Makes a world; everything that happens in it is recorded in the coverage. */
    public interface Worlds extends Function<Coverage, World> {}

    /**
     * Runs a plan.
     *
     * @param lines how many lines of the trace are kept
     */
    public static Run of(long seed, Plan plan, Worlds worlds, int lines) {
        Trace trace = new Trace(lines);
        Coverage coverage = new Coverage();
        Throwable failure = null;
        try {
            Simulation.run(seed, trace, () -> direct(plan, worlds.apply(coverage), coverage));
        } catch (Throwable e) { // also an invariant's error, which is a result
            failure = e;
        }
        coverage.count("runs", 1);
        return new Run(seed, plan, failure, trace.sum(), trace.lines(), coverage);
    }

    private static void direct(Plan plan, World world, Coverage coverage) {
        try {
            for (Step step : plan.steps()) {
                Simulation.await(() -> false, TimeUnit.MILLISECONDS.toNanos(step.millis()) - Simulation.nanoTime());
                Simulation.step("plan: " + step);
                world.take(step);
            }
            world.settle();
        } finally {
            coverage.count(MILLIS, Simulation.nanoTime() / 1_000_000);
        }
    }

    public boolean hasFailed() {
        return failure != null;
    }

    /** Returns the invariant that failed, or else the method of the simulation that threw. */
    String kind() {
        Throwable thrown = failure;
        if (thrown == null) {
            return "none";
        }
        if (thrown instanceof Violation violation) {
            return violation.invariant().name();
        }
        for (StackTraceElement frame : thrown.getStackTrace()) {
            if (frame.getClassName().startsWith("io.dra4j.simulation.")) {
                return frame.getClassName() + "." + frame.getMethodName().replaceAll("lambda\\$(.*)\\$\\d+", "$1");
            }
        }
        return thrown.getClass().getName();
    }

    /** Returns the run with the fewest steps that fails in the same way. */
    public Run shortened(Worlds worlds, Duration limit) {
        long start = System.nanoTime();
        Predicate<Plan> failsSo = shorter -> System.nanoTime() - start < limit.toNanos()
                && of(seed, shorter, worlds, 0).kind().equals(kind());
        return of(seed, Shortening.of(plan, failsSo), worlds, trace.size());
    }

    /** Returns a report that shows what happened, and how to repeat it. */
    public String report() {
        return """
                Seed %d: %s
                Again: -Dseed=%d -Dsteps=%s
                %s steps:
                %sThe last of the trace:
                %s
                """.formatted(seed, failure, seed, plan.names(), plan.steps().size(), plan, String.join("\n", trace));
    }
}
