// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Taint;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.internal.health.HealthFeed;
import io.dra4j.runtime.internal.health.HealthReports;
import io.dra4j.runtime.internal.health.HealthReports.HealthTaints;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import java.util.Collection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Passes the provider's health reports to the kubelet and, by policy, turns them into taints.
 *
 * <p>Without the health service, reports are refused. Thread-safe.
 */
final class RunningHealth {

    private final HealthReports reports = new HealthReports();
    private final boolean isReported;
    private final @Nullable HealthTaints taints;

    RunningHealth(DriverSettings settings) {
        Taint.Effect effect = settings.unhealthyTaint;
        isReported = settings.healthService;
        taints = effect != null ? new HealthTaints(reports, settings.driverName, effect) : null;
    }

    void report(Collection<DeviceHealth> health) {
        if (!isReported) {
            throw new IllegalStateException(
                    "The driver was built without the health service, so the kubelet does not ask for"
                            + " reports; call healthService() on its DraDriver.Builder, which a program can reach in"
                            + " DriverMain.abilities()");
        }
        reports.report(health);
    }

    boolean mayTaint() {
        return taints != null;
    }

    Inventory taint(Inventory inventory) {
        return taints == null ? inventory : taints.taint(inventory);
    }

    /** Notifies the publisher when the devices to be tainted change. */
    void informs(SlicePublisher publisher) {
        if (taints != null) {
            reports.onChange(publisher::taintsChanged);
        }
    }

    /** Measures how many devices are in which state, if health is reported. */
    void measure(SlicePublisher publisher, Meters meters) {
        for (HealthState state : isReported ? HealthState.values() : new HealthState[0]) {
            meters.watch(
                    Metric.DEVICE_HEALTH,
                    () -> publisher.lastInventory().stream()
                            .flatMap(inventory -> reports.current(inventory).stream())
                            .filter(device -> device.state() == state)
                            .count(),
                    state.name().toLowerCase(Locale.ROOT));
        }
    }

    /** Creates the kubelet's feed; {@code null} if no health is reported. */
    @Nullable
    HealthFeed feed(SlicePublisher publisher) {
        return isReported ? new HealthFeed(reports, publisher::lastInventory) : null;
    }
}
