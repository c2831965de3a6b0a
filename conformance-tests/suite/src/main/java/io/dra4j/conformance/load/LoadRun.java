// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.load;

import io.dra4j.conformance.load.MeasuredDriver.StartTimes;
import io.dra4j.conformance.settings.DriverAdapters;
import io.dra4j.conformance.settings.Settings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Measures one driver, or several in turns, each on its own test contexts.
 *
 * <p>Several are measured in rounds of one call each, with claims of the same names and sizes, and
 * the next round begins with another: a disturbance of the machine affects all of them. The
 * remarks are the progress, and what is left out, a sentence each.
 */
public record LoadRun(List<Settings> drivers, LoadPlan plan, Consumer<String> remarks) {

    static final String PREPARE = "prepare";
    static final String UNPREPARE = "unprepare";

    private static final List<Integer> BATCHES = List.of(1, 8, 32);
    private static final List<Integer> FIRST = List.of(10, 100, Integer.MAX_VALUE);
    private static final List<Integer> HELD = List.of(0, 200, 1000);

    public LoadRun {
        drivers = List.copyOf(drivers);
    }

    /** Measures everything, and returns the numbers in the order of the drivers. */
    public List<DriverNumbers> run() {
        List<Times> times = firstStarts();
        List<MeasuredDriver> measured = new ArrayList<>();
        try {
            for (int i = 0; i < drivers.size(); i++) {
                MeasuredDriver driver = MeasuredDriver.open(drivers.get(i), remarks);
                measured.add(driver);
                times.get(i).starts.add(driver.start());
            }
            idle(measured);
            remarks.accept("The slices are deleted once after each start, as the kubelet does when it starts");
            for (int i = 0; i < drivers.size(); i++) {
                times.get(i).wipes.add(Timing.of(measured.get(i)::wipe));
            }
            calls(measured);
            return IntStream.range(0, measured.size())
                    .mapToObj(i -> measured.get(i).numbers(times.get(i).starts, times.get(i).wipes))
                    .toList();
        } finally {
            measured.forEach(MeasuredDriver::close);
        }
    }

    /**
     * All starts but the last, in turns; an external driver is not started here. The first round does not count: in it, this
     * program loads its classes, and the drivers' files are read from the disk.
     */
    private List<Times> firstStarts() {
        List<Times> times = drivers.stream()
                .map(driver -> new Times(new ArrayList<>(), new ArrayList<>()))
                .toList();
        List<Integer> turns = new ArrayList<>(IntStream.range(0, drivers.size())
                .filter(this::runsAnywhere)
                .boxed()
                .toList());
        for (int round = 0; round < plan.starts() && plan.starts() > 1; round++) {
            for (int i : turns) {
                try (MeasuredDriver driver = MeasuredDriver.open(drivers.get(i), remarks)) {
                    StartTimes start = driver.start();
                    Duration wipe = Timing.of(driver::wipe);
                    if (round > 0) {
                        times.get(i).starts.add(start);
                        times.get(i).wipes.add(wipe);
                    }
                }
            }
            Collections.rotate(turns, 1);
        }
        return times;
    }

    /** The times of a driver until it has started, and until it has repaired its slices. */
    private record Times(List<StartTimes> starts, List<Duration> wipes) {}

    private boolean runsAnywhere(int driver) {
        return DriverAdapters.of(drivers.get(driver).driver()).runsAnywhere();
    }

    private void idle(List<MeasuredDriver> measured) {
        remarks.accept("Memory and threads are read %d s after the start"
                .formatted(plan.idle().toSeconds()));
        measured.forEach(driver -> driver.idle(plan.idle()));
    }

    private void calls(List<MeasuredDriver> measured) {
        int devices =
                measured.stream().mapToInt(MeasuredDriver::findDevices).min().orElse(0);
        int largest = BATCHES.get(BATCHES.size() - 1);
        int most = Math.min(largest, devices);
        if (most < largest) {
            remarks.accept(
                    "Each claim has its own device, and claims can have %d devices at the same time: no call has more claims"
                            .formatted(most));
        }
        remarks.accept("The first %d calls".formatted(plan.firstCalls()));
        firstCalls(measured);
        for (int wanted : HELD) {
            if (devices < wanted + most) {
                remarks.accept("Left out: %d claims held, for which %d devices are too few".formatted(wanted, devices));
                continue;
            }
            measured.forEach(driver -> driver.hold(wanted, most));
            held(measured, wanted, most);
        }
        measured.forEach(MeasuredDriver::loaded);
        if (devices >= HELD.get(1) + most) {
            measured.forEach(MeasuredDriver::release);
            held(measured, 0, most); // else a driver that warms up would be slow with none held
        }
    }

    /** The driver has just started: it loads classes in its first ten calls, and compiles in the next hundreds. */
    private void firstCalls(List<MeasuredDriver> measured) {
        int done = 0;
        for (int end : FIRST) {
            int until = Math.min(end, plan.firstCalls());
            measure(measured, 1, ", %d to %d".formatted(done + 1, until), until - done, false);
            done = until;
        }
    }

    private void held(List<MeasuredDriver> measured, int held, int most) {
        remarks.accept("Calls with %d claims held, %d rounds".formatted(held, plan.rounds()));
        for (int size : sizes(most)) {
            measure(measured, size, "", plan.rounds(), size == 1);
        }
    }

    /** The sizes of calls for which there are enough devices, and the largest possible one. */
    private static List<Integer> sizes(int most) {
        return BATCHES.stream().map(batch -> Math.min(batch, most)).distinct().toList();
    }

    private static void measure(List<MeasuredDriver> measured, int size, String which, int rounds, boolean floors) {
        if (rounds == 0) {
            return;
        }
        List<MeasuredDriver.Batch> turns = new ArrayList<>(
                measured.stream().map(one -> one.batch(size, which, floors)).toList());
        for (int i = 0; i < rounds; i++) {
            turns.forEach(MeasuredDriver.Batch::round);
            Collections.rotate(turns, 1);
        }
        turns.forEach(MeasuredDriver.Batch::end);
    }
}
