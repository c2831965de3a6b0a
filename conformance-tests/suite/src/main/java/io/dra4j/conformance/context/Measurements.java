// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import io.dra4j.conformance.context.Measured.Unit;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The values that a rule has measured, each with its limit; of several of one kind, the greatest.
 *
 * <p>Thread-safe: calls may be measured on several threads.
 */
public final class Measurements {

    private record Key(String what, long limit) {}

    private final Map<Key, Measured> greatest = new LinkedHashMap<>(); // guarded by this

    Measurements() {}

    public synchronized void add(Measured measured) {
        greatest.merge(
                new Key(measured.what(), measured.limit()),
                measured,
                (known, other) -> order(other) > order(known) ? other : known);
    }

    /** Compares values; of equal ones, one that was given up is greater. */
    private static double order(Measured measured) {
        return measured.value() + (measured.open() ? 0.5 : 0);
    }

    public void count(String what, long value, long limit) {
        add(new Measured(what, value, limit, Unit.COUNT, false));
    }

    public void bytes(String what, long value, long limit) {
        add(new Measured(what, value, limit, Unit.BYTES, false));
    }

    public void time(String what, Duration took, Duration limit) {
        add(Measured.time(what, took, limit, false));
    }

    /** Begins a wait that is given up at the limit. */
    public Wait begin(String what, Duration limit) {
        return new Wait(this, what, limit, System.nanoTime());
    }

    public record Wait(Measurements measurements, String what, Duration limit, long begin) {
        /** Ends the wait, and returns whether what was awaited happened before the limit. */
        public boolean end(boolean happened) {
            Duration took = Duration.ofNanos(System.nanoTime() - begin);
            measurements.add(Measured.time(what, happened ? took : limit, limit, !happened));
            return happened;
        }

        public <T> Optional<T> end(Optional<T> awaited) {
            end(awaited.isPresent());
            return awaited;
        }
    }

    /** Returns and removes all values since the last call. */
    public synchronized List<Measured> take() {
        List<Measured> taken = List.copyOf(greatest.values());
        greatest.clear();
        return taken;
    }
}
