// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import java.time.Duration;
import java.util.Locale;

/**
 * A measured value with the limit that it was compared with.
 *
 * @param what the subject, for example {@code time until the slices were as before}
 * @param value the greatest value that was measured, in the unit
 * @param limit the greatest value that is allowed, in the unit
 * @param open whether the wait was given up at this value, so that the true one is greater
 */
public record Measured(String what, long value, long limit, Unit unit, boolean open) {

    public enum Unit {
        MILLISECONDS,
        COUNT,
        BYTES
    }

    /** A time; open if the wait was given up. */
    public static Measured time(String what, Duration took, Duration limit, boolean open) {
        return new Measured(what, took.toMillis(), limit.toMillis(), Unit.MILLISECONDS, open);
    }

    public boolean isOver() {
        return open || value > limit;
    }

    /** The value with its unit, for example {@code 60.1 s}, or {@code > 90 s}. */
    public String valueText() {
        return (open ? "> " : "") + text(value);
    }

    /** The limit with its unit, for example {@code 90 s}. */
    public String limitText() {
        return text(limit);
    }

    private String text(long number) {
        return switch (unit) {
            case COUNT -> Long.toString(number);
            case BYTES -> number + " bytes";
            case MILLISECONDS -> time(number);
        };
    }

    private static String time(long millis) {
        if (millis < 1000) {
            return millis + " ms";
        }
        return millis % 1000 == 0 ? millis / 1000 + " s" : String.format(Locale.ROOT, "%.1f s", millis / 1000.0);
    }

    /** The same in words, for example {@code restored: 60.1 s (limit 90 s)}. */
    @Override
    public String toString() {
        return what + ": " + valueText() + " (limit " + limitText() + ")";
    }
}
