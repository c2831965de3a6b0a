// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** A record of a run, in order: the last lines, and a checksum of all lines, for comparing runs. */
public final class Trace {

    private final int longest;
    private final Deque<String> lines = new ArrayDeque<>();
    private long sum = 1;
    private long count;

    /**
     * A trace.
     *
     * @param longest how many lines are kept; with 0, only the checksum is computed
     */
    public Trace(int longest) {
        this.longest = longest;
    }

    void add(long nanos, Strand strand, String what) {
        sum(strand.name.hashCode(), what.hashCode());
        count++;
        if (longest > 0) {
            if (lines.size() == longest) {
                lines.removeFirst();
            }
            lines.addLast("%12.6f %-28s %s".formatted(nanos / 1e9, strand, what));
        }
    }

    void sum(long one, long other) {
        sum = 31 * (31 * sum + one) + other;
    }

    /** Returns the checksum of all lines, and of the order of threads: two runs with the same one did the same. */
    public long sum() {
        return sum;
    }

    /** Returns how many lines there were. */
    public long count() {
        return count;
    }

    /** Returns the lines that were kept. */
    public List<String> lines() {
        return List.copyOf(lines);
    }

    String tail() {
        return String.join("\n", lines);
    }
}
