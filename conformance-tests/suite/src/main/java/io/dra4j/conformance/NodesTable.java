// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.load.Footprint;
import io.dra4j.conformance.load.NodesNumbers;
import io.dra4j.conformance.load.NodesNumbers.Idle;
import java.io.PrintWriter;
import java.util.Locale;

/** The numbers of {@code bench --nodes} as text, in at most 100 columns. */
final class NodesTable {

    private static final String FACT = "%-34s %s";
    private static final String ROW = "%-34s %14s %14s %14s";
    private static final double MIB = 1 << 20;
    private static final double KIB = 1 << 10;

    private final PrintWriter out;

    /** A table on a stream. */
    NodesTable(PrintWriter out) {
        this.out = out;
    }

    void print(NodesNumbers numbers) {
        int nodes = numbers.plan().nodes();
        out.println();
        line(FACT, "drivers, one a node", nodes);
        line(FACT, "devices each", numbers.plan().devices());
        line(FACT, "registered with the kubelet", numbers.registered());
        line(FACT, "slices published", numbers.slices());
        line(
                FACT,
                "time until the last " + (nodes - 1) + " published",
                String.format(Locale.ROOT, "%.1f s", numbers.publishing().toMillis() / 1000.0));
        requests(numbers);
        memory(numbers);
        idle(numbers);
        out.flush();
    }

    private void requests(NodesNumbers numbers) {
        out.println();
        line(ROW, "API requests until then", "all", "a driver", "");
        numbers.requests().forEach((kind, count) -> requests(numbers, kind, count));
        requests(numbers, "in all", numbers.allRequests());
    }

    private void requests(NodesNumbers numbers, String kind, long count) {
        line(ROW, kind, count, String.format(Locale.ROOT, "%.2f", numbers.each(count)), "");
    }

    private void memory(NodesNumbers numbers) {
        Footprint one = numbers.one().footprint();
        Footprint all = numbers.all().footprint();
        out.println();
        line(ROW, "memory and threads at rest", "one driver", "all drivers", "each adds");
        bytes(numbers, "resident", one.residentBytes(), all.residentBytes());
        bytes(numbers, "anonymous", one.anonymousBytes(), all.anonymousBytes());
        bytes(
                numbers,
                "heap after a collection",
                numbers.one().heapBytes(),
                numbers.all().heapBytes());
        double added = numbers.added(one.threads(), all.threads());
        line(ROW, "threads", one.threads(), all.threads(), String.format(Locale.ROOT, "%.2f", added));
    }

    private void bytes(NodesNumbers numbers, String what, long one, long all) {
        line(
                ROW,
                what,
                String.format(Locale.ROOT, "%.1f MiB", one / MIB),
                String.format(Locale.ROOT, "%.1f MiB", all / MIB),
                String.format(Locale.ROOT, "%.1f KiB", numbers.added(one, all) / KIB));
    }

    private void idle(NodesNumbers numbers) {
        Idle idle = numbers.idle();
        long all = idle.requests().values().stream().mapToLong(Long::longValue).sum();
        long needless =
                idle.needless().values().stream().mapToLong(Long::longValue).sum();
        out.println();
        line(ROW, "idle for %d s".formatted(idle.lasted().toSeconds()), "all", "a driver", "");
        requests(numbers, "watches begun again", all - needless);
        requests(numbers, "other API requests", needless);
        line(
                ROW,
                "processor, of one core",
                String.format(Locale.ROOT, "%.2f %%", idle.cpuPercent()),
                String.format(Locale.ROOT, "%.4f %%", numbers.each(idle.cpuPercent())),
                "");
        out.println();
    }

    private void line(String format, Object... cells) {
        out.println(String.format(Locale.ROOT, format, cells).stripTrailing());
    }
}
