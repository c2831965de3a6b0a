// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.settings.Settings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Many prepares and unprepares in a row, each of a new claim, to see whether a driver's memory grows with them.
 *
 * @param calls the number of prepares, and of unprepares; at least ten
 * @param remarks receives what could not be removed in the end, a sentence each
 */
public record LongRun(Settings settings, int calls, Consumer<String> remarks) {

    /** The number of times that the memory is read, and the least number of calls. */
    public static final int PARTS = 10;

    public LongRun {
        if (calls < PARTS) {
            throw new IllegalArgumentException("at least " + PARTS + " calls");
        }
    }

    /** The state after {@code calls} prepares, with the times of those of this part. */
    public record Part(int calls, Footprint footprint, Timings prepares) {}

    /** Runs all calls; returns what was seen after each tenth of them, which the consumer gets immediately. */
    public List<Part> run(Consumer<Part> seen) {
        try (MeasuredDriver driver = MeasuredDriver.open(settings, remarks)) {
            driver.start();
            driver.findDevices();
            Footprint first = footprint(driver);
            List<Part> parts = new ArrayList<>();
            for (int i = 1; i <= PARTS; i++) {
                int until = (int) ((long) calls * i / PARTS);
                int from = (int) ((long) calls * (i - 1) / PARTS);
                Part part = part(driver, from, until);
                Violation.unless(part.footprint().largest() == first.largest())
                        .because(
                                "the driver restarted during %d calls: it was process %d, and is %d now",
                                until, first.largest(), part.footprint().largest());
                seen.accept(part);
                parts.add(part);
            }
            return parts;
        }
    }

    private static Part part(MeasuredDriver driver, int from, int until) {
        List<Duration> times = new ArrayList<>();
        for (int i = from; i < until; i++) {
            times.add(driver.turnover());
        }
        Timings prepares = new Timings(LoadRun.PREPARE, 1, 0, times, Duration.ZERO);
        return new Part(until, footprint(driver), prepares);
    }

    private static Footprint footprint(MeasuredDriver driver) {
        Optional<Footprint> footprint = driver.footprint();
        Violation.unless(footprint.isPresent())
                .because("the memory of the driver cannot be read: it must run as a process of the suite on Linux");
        return footprint.get();
    }

    /**
     * By how much the memory grew over the second half: its peak resident memory less that of the first half; negative
     * if it shrank.
     */
    public static long growthBytes(List<Part> parts) {
        int half = parts.size() / 2;
        return most(parts.subList(half, parts.size())) - most(parts.subList(0, half));
    }

    private static long most(List<Part> parts) {
        return parts.stream()
                .mapToLong(part -> part.footprint().residentBytes())
                .max()
                .orElse(0);
    }
}
