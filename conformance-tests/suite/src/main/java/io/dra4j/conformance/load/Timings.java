// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * The times of one operation, measured repeatedly.
 *
 * @param what the operation, for example {@code prepare}
 * @param batch how many claims one call had; 0 if it is not about calls
 * @param held how many other claims were prepared meanwhile
 * @param times how long each took, ascending
 * @param limit what the kubelet allows; zero if it sets no limit
 */
public record Timings(String what, int batch, int held, List<Duration> times, Duration limit) {

    public Timings {
        if (times.isEmpty()) {
            throw new IllegalArgumentException("nothing was measured");
        }
        times = times.stream().sorted().toList();
    }

    /** The given percentile of the times, by the nearest rank. */
    public Duration percentile(int percent) {
        int rank = (int) Math.ceil(percent / 100.0 * times.size());
        return times.get(Math.max(1, rank) - 1);
    }

    /** Returns whether another concerns the same calls. */
    boolean isOfSame(Timings other) {
        return what.equals(other.what) && batch == other.batch && held == other.held;
    }

    /** Merges these times with those of other equal calls. */
    Timings and(Timings other) {
        List<Duration> all = Stream.concat(times.stream(), other.times.stream()).toList();
        return new Timings(what, batch, held, all, limit);
    }

    public Duration longest() {
        return times.get(times.size() - 1);
    }

    /** Returns whether none took longer than the kubelet allows. */
    public boolean isWithinLimit() {
        return limit.isZero() || longest().compareTo(limit) <= 0;
    }
}
