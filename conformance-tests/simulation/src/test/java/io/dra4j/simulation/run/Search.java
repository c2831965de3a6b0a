// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Runs one seed after another, until one fails. */
public final class Search {

    private static final double MILLIS_OF_HOUR = 3_600_000;

    private final Run.Worlds worlds;
    private final Coverage coverage = new Coverage();
    private final long start = System.nanoTime();

    public Search(Run.Worlds worlds) {
        this.worlds = worlds;
    }

    /**
     * Runs seeds for the given time.
     *
     * @return the first run that failed; empty if none did
     */
    public Optional<Run> firstFailure(long firstSeed, Duration limit) {
        @Nullable Run failed = null;
        for (long seed = firstSeed; failed == null && took().compareTo(limit) < 0; seed++) {
            Run run = Run.of(seed, Plan.of(seed), worlds, 0);
            coverage.add(run.coverage());
            failed = run.hasFailed() ? run : null;
        }
        return Optional.ofNullable(failed);
    }

    public Duration took() {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /** Returns what was tried, and in how much time. */
    @Override
    public String toString() {
        return "%d s, %.1f simulated node-hours\n%s"
                .formatted(took().toSeconds(), coverage.count(Run.MILLIS) / MILLIS_OF_HOUR, coverage);
    }
}
