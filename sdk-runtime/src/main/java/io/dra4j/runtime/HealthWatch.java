// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.health.DeviceHealth;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;

/**
 * Tests the devices from time to time, and reports their health before the last report expires.
 *
 * <p>A provider opens it in {@code start}, and closes it in {@code close}:
 *
 * <pre>{@code
 * watch = HealthWatch.ofProbe(Duration.ofSeconds(10), this::health, context::reportHealth);
 * }</pre>
 *
 * <p>A probe that fails is logged when it begins to fail, and reports nothing; neither does one that hangs. The devices
 * become unknown when their last reports expire, so let a report be valid for several intervals. The runtime logs each
 * change of a device's health. Thread-safe.
 */
public final class HealthWatch implements AutoCloseable {

    private final Duration longest;
    private final Callable<? extends Collection<DeviceHealth>> probe;
    private final Consumer<Collection<DeviceHealth>> report;
    private volatile Duration interval;
    private final InventoryWatch watch;

    private HealthWatch(
            Duration interval,
            Callable<? extends Collection<DeviceHealth>> probe,
            Consumer<Collection<DeviceHealth>> report,
            InventoryWatch.Timer timer) {
        this.longest = Objects.requireNonNull(interval, "interval");
        this.probe = Objects.requireNonNull(probe, "probe");
        this.report = report;
        this.interval = interval;
        report.accept(List.of());
        watch = InventoryWatch.every(() -> this.interval, "the health of the devices", this::test, timer);
    }

    /**
     * Tests the devices on a thread of its own.
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
        return new HealthWatch(interval, probe, report, InventoryWatch.Timer.own("health-watch"));
    }

    /**
     * Tests the devices on a timer of the caller's; otherwise as {@link #ofProbe(Duration, Callable, Consumer)}.
     *
     * @param timer runs the tests; the watch ends its own task alone
     */
    public static HealthWatch ofProbe(
            Duration interval,
            Callable<? extends Collection<DeviceHealth>> probe,
            Consumer<Collection<DeviceHealth>> report,
            ScheduledExecutorService timer) {
        return new HealthWatch(interval, probe, report, InventoryWatch.Timer.of(timer));
    }

    /** Returns nothing that changes: it is the runtime that compares reports. */
    private List<?> test() throws Exception {
        Collection<DeviceHealth> health = probe.call();
        if (health == null) {
            throw new IllegalStateException("the probe returned null; return an empty list if it knows nothing");
        }
        report.accept(health);
        interval = health.stream()
                .map(one -> one.validFor().dividedBy(2))
                .filter(half -> half.compareTo(longest) < 0)
                .min(Comparator.naturalOrder())
                .orElse(longest);
        return List.of();
    }

    /** Tests and reports immediately, between the times, on the caller's thread. */
    public void look() {
        watch.look();
    }

    /** Ends the watch; a test that has begun continues. */
    @Override
    public void close() {
        watch.close();
    }
}
