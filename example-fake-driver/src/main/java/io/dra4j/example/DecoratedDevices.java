// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.metrics.DeviceMeter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A decorator of another driver's devices: what a subclass does not change is passed on.
 *
 * <p>Thread-safe if the other driver and the subclass are.
 */
abstract class DecoratedDevices implements DeviceProvider {

    private final DeviceProvider devices;

    DecoratedDevices(DeviceProvider devices) {
        this.devices = devices;
    }

    /** Returns a pool of the other driver, with the changes of this one. */
    Pool decorate(Pool pool) throws Exception {
        List<Device> offered = pool.devices().stream().map(this::decorate).toList();
        return pool.toBuilder().devices(offered).build();
    }

    /** Returns a device of the other driver, with the changes of this one. */
    Device decorate(Device device) {
        return device;
    }

    /** Returns a device prepared by the other driver, with the changes of this one. */
    PreparedDevice decorate(PreparedDevice device) throws Exception {
        return device;
    }

    /** Returns what the other driver offers. */
    final Inventory undecorated() throws Exception {
        return devices.inventory();
    }

    /** Returns the inventory that was read before, if it equals the one read now: all devices are in memory once. */
    static Inventory unlessChanged(@Nullable Inventory before, Inventory now) {
        return before != null && before.equals(now) ? before : now;
    }

    @Override
    public Inventory inventory() throws Exception {
        Inventory undecorated = undecorated();
        List<Pool> pools = new ArrayList<>();
        for (Pool pool : undecorated.pools()) {
            pools.add(decorate(pool));
        }
        return new Inventory(pools, undecorated.leftOut());
    }

    @Override
    public final List<ConfigType<?>> configTypes() {
        return devices.configTypes();
    }

    @Override
    public void start(DriverContext context) throws Exception {
        devices.start(context);
    }

    @Override
    public final PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) throws Exception {
        PreparedClaim prepared = devices.prepare(claim, context);
        List<PreparedDevice> decorated = new ArrayList<>();
        for (PreparedDevice device : prepared.devices()) {
            decorated.add(decorate(device));
        }
        return prepared.toBuilder().devices(decorated).build();
    }

    @Override
    public final boolean changesNothing(AllocatedClaim claim) {
        return devices.changesNothing(claim);
    }

    @Override
    public final void unprepare(HeldClaim claim, ClaimContext context) throws Exception {
        devices.unprepare(claim, context);
    }

    @Override
    public final Optional<String> restartReason() {
        return devices.restartReason();
    }

    @Override
    public final void suspend() throws Exception {
        devices.suspend();
    }

    @Override
    public final void resume() throws Exception {
        devices.resume();
    }

    @Override
    public final DeviceMeter meter() throws Exception {
        return devices.meter();
    }

    @Override
    public void close() {
        devices.close();
    }
}
