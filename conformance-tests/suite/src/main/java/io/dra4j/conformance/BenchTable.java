// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.load.DriverNumbers;
import io.dra4j.conformance.load.Footprint;
import io.dra4j.conformance.load.LongRun;
import io.dra4j.conformance.load.Timings;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.ToLongFunction;

/** The numbers of {@code bench} as text, in at most 100 columns; {@code idle} is the age of the idle driver. */
record BenchTable(PrintWriter out, Duration idle) {

    private static final String ROW = "%-21s %6s %5s %5s %10s %10s %10s %8s %8s %8s";
    private static final String MEMORY = "%-42s %12s %12s %10s %10s";
    private static final String PAIR = "%-21s %6s %5s %10s %10s %10s %10s %9s %9s";
    private static final String PART = "%9s %12s %12s %9s %12s %12s";
    private static final String FLOOR =
            "Floor of a prepare: empty call + GET + 2 fsyncs of a file; of an unprepare: empty call + 1 fsync.";

    void print(DriverNumbers numbers) {
        memory(numbers);
        line(ROW, "publishing", "", "", "times", "p50", "p99", "longest", "", "", "");
        numbers.publishing().forEach(measure -> row(numbers, measure));
        out.println();
        line(ROW, "floors", "", "", "times", "p50", "p99", "longest", "", "", "");
        numbers.floors().forEach(measure -> row(numbers, measure));
        out.println();
        line(ROW, "", "", "", "", "", "", "", "p50 to", "p50 to", "p50 to");
        line(ROW, "calls", "claims", "held", "times", "p50", "p99", "longest", "1 claim", "0 held", "floor");
        numbers.calls().forEach(measure -> row(numbers, measure));
        out.println();
        out.println(FLOOR);
        overLimit(numbers);
        out.flush();
    }

    private void memory(DriverNumbers numbers) {
        out.println();
        line(MEMORY, "memory and threads", "resident", "anonymous", "threads", "processes");
        memory("idle, %d s after the start".formatted(idle.toSeconds()), numbers.idle());
        memory("after the calls, %d claims held".formatted(numbers.heldAtLast()), numbers.loaded());
        out.println();
    }

    private void memory(String when, Optional<Footprint> footprint) {
        if (footprint.isEmpty()) {
            line(MEMORY, when, "unknown", "unknown", "unknown", "unknown");
        } else {
            Footprint found = footprint.get();
            line(
                    MEMORY,
                    when,
                    mebibytes(found.residentBytes()),
                    mebibytes(found.anonymousBytes()),
                    found.threads(),
                    found.processes());
        }
    }

    private void row(DriverNumbers numbers, Timings measure) {
        boolean isCall = measure.batch() > 0;
        line(
                ROW,
                measure.what(),
                isCall ? measure.batch() : "",
                isCall ? measure.held() : "",
                measure.times().size(),
                time(measure.percentile(50)),
                time(measure.percentile(99)),
                time(measure.longest()),
                ratio(numbers.toOneClaim(measure)),
                ratio(numbers.toNoneHeld(measure)),
                ratio(numbers.toFloor(measure)));
    }

    private void overLimit(DriverNumbers numbers) {
        numbers.calls().stream()
                .filter(measure -> !measure.isWithinLimit())
                .forEach(measure -> out.printf(
                        "A %s of %d claims took %s: the kubelet gives up after %s.%n",
                        measure.what(), measure.batch(), time(measure.longest()), time(measure.limit())));
    }

    /** Both drivers, line by line, and the ratio of the first to the second. */
    void compare(List<String> names, DriverNumbers a, DriverNumbers b) {
        out.println();
        out.println("A: " + names.get(0));
        out.println("B: " + names.get(1));
        out.println();
        line(PAIR, "", "", "", "A", "", "B", "", "A / B", "");
        line(PAIR, "memory and threads", "", "", "idle", "loaded", "idle", "loaded", "idle", "loaded");
        footprints("resident", a, b, Footprint::residentBytes, BenchTable::mebibytes);
        footprints("anonymous", a, b, Footprint::anonymousBytes, BenchTable::mebibytes);
        footprints("threads", a, b, Footprint::threads, Long::toString);
        out.printf(
                "Idle is %d s after the start, loaded after the calls with %d claims held.%n%n",
                idle.toSeconds(), a.heldAtLast());
        line(PAIR, "", "claims", "held", "p50", "p99", "p50", "p99", "p50", "p99");
        pairs(a.publishing(), b.publishing());
        out.println();
        pairs(a.floors(), b.floors());
        out.println();
        pairs(a.calls(), b.calls());
        overLimit(a);
        overLimit(b);
        out.flush();
    }

    private interface Text {
        String of(long number);
    }

    private void footprints(String what, DriverNumbers a, DriverNumbers b, ToLongFunction<Footprint> of, Text text) {
        OptionalDouble[] all = {
            number(a.idle(), of), number(a.loaded(), of), number(b.idle(), of), number(b.loaded(), of)
        };
        Object[] cells = new Object[all.length];
        for (int i = 0; i < all.length; i++) {
            cells[i] = all[i].isPresent() ? text.of((long) all[i].getAsDouble()) : "unknown";
        }
        line(PAIR, what, "", "", cells[0], cells[1], cells[2], cells[3], ratio(all[0], all[2]), ratio(all[1], all[3]));
    }

    private static OptionalDouble number(Optional<Footprint> footprint, ToLongFunction<Footprint> of) {
        return footprint.isPresent() ? OptionalDouble.of(of.applyAsLong(footprint.get())) : OptionalDouble.empty();
    }

    /** Both have the same measurements, since they alternate. */
    private void pairs(List<Timings> a, List<Timings> b) {
        for (int i = 0; i < a.size(); i++) {
            Timings first = a.get(i);
            Timings second = b.get(i);
            boolean isCall = first.batch() > 0;
            line(
                    PAIR,
                    first.what(),
                    isCall ? first.batch() : "",
                    isCall ? first.held() : "",
                    time(first.percentile(50)),
                    time(first.percentile(99)),
                    time(second.percentile(50)),
                    time(second.percentile(99)),
                    ratio(first.percentile(50), second.percentile(50)),
                    ratio(first.percentile(99), second.percentile(99)));
        }
    }

    /** The head of the table of a run of many calls. */
    void partsBegin() {
        out.println();
        line(PART, "calls", "resident", "anonymous", "threads", "prepare p50", "p99");
        out.flush();
    }

    void part(LongRun.Part part) {
        Footprint footprint = part.footprint();
        line(
                PART,
                part.calls(),
                mebibytes(footprint.residentBytes()),
                mebibytes(footprint.anonymousBytes()),
                footprint.threads(),
                time(part.prepares().percentile(50)),
                time(part.prepares().percentile(99)));
        out.flush();
    }

    private void line(String format, Object... cells) {
        out.println(format.formatted(cells).stripTrailing());
    }

    private static String time(Duration time) {
        double millis = time.toNanos() / 1e6;
        return millis < 1000
                ? String.format(Locale.ROOT, "%.2f ms", millis)
                : String.format(Locale.ROOT, "%.2f s", millis / 1000);
    }

    private static String mebibytes(long bytes) {
        return String.format(Locale.ROOT, "%.1f MiB", bytes / (double) (1 << 20));
    }

    private static String ratio(Duration a, Duration b) {
        return ratio(OptionalDouble.of(a.toNanos()), OptionalDouble.of(b.toNanos()));
    }

    private static String ratio(OptionalDouble a, OptionalDouble b) {
        return a.isPresent() && b.isPresent() && b.getAsDouble() > 0
                ? ratio(OptionalDouble.of(a.getAsDouble() / b.getAsDouble()))
                : "";
    }

    private static String ratio(OptionalDouble ratio) {
        return ratio.isPresent() ? String.format(Locale.ROOT, "x %.2f", ratio.getAsDouble()) : "";
    }
}
