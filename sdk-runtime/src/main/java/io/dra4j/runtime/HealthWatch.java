// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.health.DeviceHealth;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Tests the devices periodically, and reports their health before the last report expires.
 *
 * <p>A provider opens it in {@code start}, and closes it in {@code close}:
 *
 * <pre>{@code
 * watch = HealthWatch.ofProbe(Duration.ofSeconds(10), this::health, context::reportHealth);
 * }</pre>
 *
 * <p>A probe that fails reports nothing, and the first of several failures in a row is logged; a probe that hangs
 * reports nothing either. The devices become unknown when their last reports expire, so each report should be valid
 * for several intervals. The runtime logs each change of a device's health. Thread-safe.
 */
public final class HealthWatch implements AutoCloseable {

    private final InventoryWatch watch;

    private HealthWatch(InventoryWatch watch) {
        this.watch = watch;
    }

    /**
     * Tests the devices on its own thread.
     *
     * @param interval the time between the end of a test and the next one; half the shortest {@code validFor} of the
     *     reports, if that is less
     * @param probe returns what it knows; devices that it leaves out keep their last report, until that expires
     * @param report takes what the probe returned, on the thread of the watch: {@code context::reportHealth}
     * @return the watch, which has tested once, on the caller's thread
     * @throws IllegalStateException if the driver was built without the health service
     */
    public static HealthWatch ofProbe(
            Duration interval,
            Callable<? extends Collection<DeviceHealth>> probe,
            Consumer<Collection<DeviceHealth>> report) {
        return ofProbe(interval, probe, report, ShortLivedThreads.upkeep("health-watch"));
    }

    static HealthWatch ofProbe(
            Duration longest,
            Callable<? extends Collection<DeviceHealth>> probe,
            Consumer<Collection<DeviceHealth>> report,
            ScheduledExecutorService timer) {
        report.accept(List.of()); // which a driver without the health service refuses
        AtomicReference<Duration> interval = new AtomicReference<>(longest);
        Callable<Duration> test = () -> {
            Collection<DeviceHealth> health = Objects.requireNonNull(probe.call(), "the probe of health returned null");
            report.accept(health);
            interval.set(health.stream().map(one -> one.validFor().dividedBy(2)).reduce(longest, HealthWatch::shorter));
            return longest; // never a change: the runtime compares reports
        };
        return new HealthWatch(InventoryWatch.every(interval::get, "the health of the devices", test, timer));
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** Tests and reports immediately, outside the schedule, on the caller's thread. */
    public void look() {
        watch.look();
    }

    /** Ends the watch; a test that has begun continues. */
    @Override
    public void close() {
        watch.close();
    }
}
