// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.health;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Taint;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The provider's last report of each device, which is used while it is valid.
 *
 * <p>A device without a report that is still valid is unknown. Thread-safe.
 */
public final class HealthReports {

    private static final Duration LONGEST = Duration.ofDays(365); // later instants may overflow
    private static final String SILENCE = "the driver has no current report of this device";

    private final InstantSource steady;
    private final List<Runnable> onReport = new CopyOnWriteArrayList<>();
    private final List<Runnable> onChange = new CopyOnWriteArrayList<>();
    private final Map<Id, Report> last = new LinkedHashMap<>(); // guarded by this

    /** Starts without a report, on a monotonic clock: if it were set back, a report would be valid too long. */
    public HealthReports() {
        this(() -> Instant.EPOCH.plusNanos(System.nanoTime()));
    }

    HealthReports(InstantSource steady) {
        this.steady = steady;
    }

    /**
     * The health of a device, as far as a report is valid now.
     *
     * @param message what a user should know; may be empty
     */
    public record Current(PoolName pool, DeviceName device, HealthState state, String message) {}

    public void report(Collection<DeviceHealth> health) {
        if (take(health)) {
            onChange.forEach(Runnable::run);
        }
        onReport.forEach(Runnable::run);
    }

    /** Returns whether a device has failed or recovered. */
    private synchronized boolean take(Collection<DeviceHealth> health) {
        Instant now = steady.instant();
        boolean changed = false;
        for (DeviceHealth one : health) {
            Id id = new Id(one.pool(), one.device());
            boolean wasUnhealthy = isUnhealthy(id);
            last.put(id, Report.of(one, now, wasUnhealthy));
            changed |= wasUnhealthy != isUnhealthy(id);
        }
        return changed;
    }

    /** Adds a listener for each report, called on the reporter's thread. */
    void onReport(Runnable listener) {
        onReport.add(listener);
    }

    /** Adds a listener for devices that fail or recover, called on the reporter's thread. */
    public void onChange(Runnable listener) {
        onChange.add(listener);
    }

    /**
     * Returns the complete list: each device that is offered, once.
     *
     * <p>For a pool that another component publishes, it has only the devices with a valid report.
     */
    public synchronized List<Current> current(Inventory inventory) {
        Instant now = steady.instant();
        last.entrySet().removeIf(old -> !old.getValue().isNeeded(now) && !isOffered(old, inventory));
        List<Current> current = new ArrayList<>();
        for (Pool pool : inventory.pools()) {
            if (pool.placement() instanceof Placement.PublishedElsewhere) {
                last.entrySet().stream()
                        .filter(one -> one.getKey().pool.equals(pool.name()))
                        .filter(one -> one.getValue().isValid(now))
                        .forEach(one -> current.add(current(one.getKey(), now)));
            } else {
                pool.devices().stream()
                        .map(device -> new Id(pool.name(), device.name()))
                        .forEach(id -> current.add(current(id, now)));
            }
        }
        return current;
    }

    private static boolean isOffered(Map.Entry<Id, Report> report, Inventory inventory) {
        return inventory.device(report.getKey().pool, report.getKey().device).isPresent();
    }

    private Current current(Id id, Instant now) {
        Report report = last.get(id);
        return report == null || !report.isValid(now)
                ? new Current(id.pool, id.device, HealthState.UNKNOWN, SILENCE)
                : new Current(id.pool, id.device, report.state, report.message);
    }

    /** Returns the time until the next report expires; empty if none will. */
    synchronized Optional<Duration> untilExpiry() {
        Instant now = steady.instant();
        return last.values().stream()
                .filter(report -> report.isValid(now))
                .map(report -> Duration.between(now, report.until))
                .min(Duration::compareTo);
    }

    /**
     * Returns whether a device was unhealthy when its health was last known.
     *
     * <p>Unknown is not healthy: neither a report of unknown nor the expiry of a report makes a device healthy.
     */
    private synchronized boolean isUnhealthy(Id id) {
        Report report = last.get(id);
        return report != null && report.unhealthy;
    }

    private record Id(PoolName pool, DeviceName device) {}

    private record Report(HealthState state, String message, Instant until, boolean unhealthy) {
        static Report of(DeviceHealth health, Instant now, boolean wasUnhealthy) {
            Duration valid = health.validFor().compareTo(LONGEST) < 0 ? health.validFor() : LONGEST;
            return new Report(
                    health.state(),
                    health.message(),
                    now.plus(valid),
                    health.state() == HealthState.UNKNOWN ? wasUnhealthy : health.state() == HealthState.UNHEALTHY);
        }

        boolean isValid(Instant now) {
            return until.isAfter(now);
        }

        /** A device that was unhealthy remains so while it is out of the inventory. */
        boolean isNeeded(Instant now) {
            return isValid(now) || unhealthy;
        }
    }

    /**
     * Taints unhealthy devices: a function of only the inventory and the reports, not of published slices.
     *
     * <p>The taint stays until the device is reported healthy. A device that already has a taint of that key keeps it:
     * the provider has precedence. Thread-safe.
     */
    public static final class HealthTaints {

        private final HealthReports reports;
        private final Taint taint;

        /**
         * Creates a policy.
         *
         * @param driverName the domain of the taint's key, {@code <driver>/unhealthy}
         * @param effect what the taint does to claims that do not tolerate it
         */
        public HealthTaints(HealthReports reports, String driverName, Taint.Effect effect) {
            this.reports = reports;
            this.taint = Taint.of(driverName + "/unhealthy", null, effect);
        }

        public Inventory taint(Inventory inventory) {
            return new Inventory(inventory.pools().stream().map(this::taint).toList(), inventory.leftOut());
        }

        private Pool taint(Pool pool) {
            List<Device> devices = new ArrayList<>();
            for (Device device : pool.devices()) {
                devices.add(needsTaint(pool, device) ? tainted(device) : device);
            }
            return pool.toBuilder().devices(devices).build();
        }

        private boolean needsTaint(Pool pool, Device device) {
            return reports.isUnhealthy(new Id(pool.name(), device.name()))
                    && device.taints().stream().noneMatch(own -> own.key().equals(taint.key()));
        }

        private Device tainted(Device device) {
            return device.toBuilder().taint(taint).build();
        }
    }
}
