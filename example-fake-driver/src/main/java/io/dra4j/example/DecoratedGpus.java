// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.Progress;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import java.util.ArrayList;
import java.util.List;

/**
 * Another driver's GPUs, offered in another way: what a subclass does not change is passed on.
 *
 * <p>As thread-safe as the other driver and the subclass are.
 */
abstract class DecoratedGpus implements DeviceProvider {

    private final DeviceProvider gpus;

    DecoratedGpus(DeviceProvider gpus) {
        this.gpus = gpus;
    }

    /** Returns a pool of the other driver as this one offers it. */
    abstract Pool decorate(Pool pool) throws Exception;

    /** Returns what the other driver offers. */
    final Inventory undecorated() throws Exception {
        return gpus.inventory();
    }

    @Override
    public final Inventory inventory() throws Exception {
        List<Pool> pools = new ArrayList<>();
        for (Pool pool : undecorated().pools()) {
            pools.add(decorate(pool));
        }
        return new Inventory(pools);
    }

    @Override
    public final List<ConfigType<?>> configTypes() {
        return gpus.configTypes();
    }

    @Override
    public final boolean mayTaint() {
        return gpus.mayTaint();
    }

    @Override
    public boolean reportsHealth() {
        return gpus.reportsHealth();
    }

    @Override
    public void start(DriverContext context) throws Exception {
        gpus.start(context);
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, Progress progress) throws Exception {
        return gpus.prepare(claim, progress);
    }

    @Override
    public final void unprepare(HeldClaim claim, Progress progress) throws Exception {
        gpus.unprepare(claim, progress);
    }

    @Override
    public void close() {
        gpus.close();
    }
}
