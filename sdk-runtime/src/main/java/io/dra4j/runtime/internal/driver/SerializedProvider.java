// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.Progress;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Inventory;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** Lets a provider prepare and unprepare one claim at a time; all else passes as it is. */
public final class SerializedProvider implements DeviceProvider {

    private final DeviceProvider provider;
    private final ReentrantLock lock = new ReentrantLock(true); // held while a claim is worked on

    public SerializedProvider(DeviceProvider provider) {
        this.provider = provider;
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, Progress progress) throws Exception {
        lock.lock();
        try {
            return provider.prepare(claim, progress);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void unprepare(HeldClaim claim, Progress progress) throws Exception {
        lock.lock();
        try {
            provider.unprepare(claim, progress);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public List<ConfigType<?>> configTypes() {
        return provider.configTypes();
    }

    @Override
    public void start(DriverContext context) throws Exception {
        provider.start(context);
    }

    @Override
    public Inventory inventory() throws Exception {
        return provider.inventory();
    }

    @Override
    public boolean mayTaint() {
        return provider.mayTaint();
    }

    @Override
    public boolean reportsHealth() {
        return provider.reportsHealth();
    }

    @Override
    public void close() {
        provider.close();
    }
}
