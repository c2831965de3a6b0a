// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.health;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import java.util.ArrayList;
import java.util.List;

/**
 * Taints devices that do not work: a function of the inventory and the reports, and of nothing that was published.
 *
 * <p>The taint stays until the device is reported healthy. A device that bears a taint of that key already keeps it:
 * the provider knows better. Thread-safe.
 */
public final class HealthTaints {

    private final HealthReports reports;
    private final Taint taint;

    /**
     * Makes a policy.
     *
     * @param driverName the domain of the taint's key, {@code <driver>/unhealthy}
     * @param effect what the taint does to claims that do not tolerate it
     */
    public HealthTaints(HealthReports reports, String driverName, Taint.Effect effect) {
        this.reports = reports;
        this.taint = Taint.of(driverName + "/unhealthy", null, effect);
    }

    /** Returns the inventory with a taint on each device that does not work. */
    public Inventory taint(Inventory inventory) {
        return new Inventory(inventory.pools().stream().map(this::taint).toList(), inventory.leftOut());
    }

    /** Adds a listener for changes of the tainted devices, called on the reporter's thread. */
    public void onChange(Runnable listener) {
        reports.onChange(listener);
    }

    private Pool taint(Pool pool) {
        List<Device> devices = new ArrayList<>();
        for (Device device : pool.devices()) {
            devices.add(needsTaint(pool, device) ? tainted(device) : device);
        }
        return pool.toBuilder().devices(devices).build();
    }

    private boolean needsTaint(Pool pool, Device device) {
        return reports.isUnhealthy(pool, device)
                && device.taints().stream().noneMatch(own -> own.key().equals(taint.key()));
    }

    private Device tainted(Device device) {
        return device.toBuilder().taint(taint).build();
    }
}
