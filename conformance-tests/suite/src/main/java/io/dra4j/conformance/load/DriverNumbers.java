// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * The numbers of one driver.
 *
 * @param publishing its starts, and how it repairs its slices
 * @param idle its memory and threads before the first call; empty if they are unknown
 * @param loaded the same after the last call, with its claims held
 * @param heldAtLast how many claims were held then
 * @param floors the times that no driver can go below, measured in the same minutes
 * @param calls its calls, the first ones first
 */
public record DriverNumbers(
        String driver,
        List<Timings> publishing,
        Optional<Footprint> idle,
        Optional<Footprint> loaded,
        int heldAtLast,
        List<Timings> floors,
        List<Timings> calls) {

    public List<Timings> measures() {
        return Stream.of(publishing, calls).flatMap(List::stream).toList();
    }

    /** Ratio of its median to that of later calls of one claim, with as many held; empty for those themselves. */
    public OptionalDouble toOneClaim(Timings measure) {
        String what = measure.what().split(",", 2)[0];
        boolean isFirst = !what.equals(measure.what());
        return measure.batch() > 1 || isFirst ? ratio(measure, call(what, 1, measure.held())) : OptionalDouble.empty();
    }

    /** Ratio of its median to that without held claims; empty for that itself. */
    public OptionalDouble toNoneHeld(Timings measure) {
        return measure.held() == 0 ? OptionalDouble.empty() : ratio(measure, call(measure.what(), measure.batch(), 0));
    }

    /**
     * Ratio of its median to the medians of the minimum for such a call: an empty call, and for an
     * unprepare the sync of a file; for a prepare two syncs and a read of the claim.
     */
    public OptionalDouble toFloor(Timings measure) {
        if (floors.isEmpty() || measure.batch() == 0) {
            return OptionalDouble.empty();
        }
        double floor = measure.what().startsWith(LoadRun.UNPREPARE)
                ? floor(Floors.EMPTY_CALL) + floor(Floors.FILE)
                : floor(Floors.EMPTY_CALL) + 2 * floor(Floors.FILE) + floor(Floors.GET);
        return OptionalDouble.of(median(measure) / floor);
    }

    private Optional<Timings> call(String what, int batch, int held) {
        return calls.stream()
                .filter(one -> one.what().equals(what))
                .filter(one -> one.batch() == batch && one.held() == held)
                .findFirst();
    }

    private double floor(String what) {
        return floors.stream()
                .filter(one -> one.what().equals(what))
                .mapToDouble(DriverNumbers::median)
                .sum();
    }

    private static OptionalDouble ratio(Timings measure, Optional<Timings> to) {
        return to.isPresent() ? OptionalDouble.of(median(measure) / median(to.get())) : OptionalDouble.empty();
    }

    private static double median(Timings measure) {
        Duration median = measure.percentile(50);
        return Math.max(1, median.toNanos());
    }
}
