// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.api.DriverContext;
import io.dra4j.api.NodeLock;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.error.DraException;
import io.dra4j.api.health.DeviceHealth;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A runtime that records the reports of the provider. */
final class RecordedContext implements DriverContext {

    private static final int TIMEOUT_SECONDS = 60;

    final Map<String, DeviceHealth> health = new ConcurrentHashMap<>();
    final List<String> notices = new CopyOnWriteArrayList<>();
    private final Map<String, Semaphore> locks = new ConcurrentHashMap<>();
    private final Semaphore changes = new Semaphore(0);
    private final List<HeldClaim> held;

    RecordedContext(List<HeldClaim> held) {
        this.held = held;
    }

    /** Waits until the provider asks for its inventory to be read. */
    void awaitChange() throws InterruptedException {
        if (!changes.tryAcquire(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("The inventory did not change");
        }
    }

    /** Returns how often the provider has asked for that since. */
    int forgetChanges() {
        return changes.drainPermits();
    }

    @Override
    public String driverName() {
        return "gpu.nvidia.com";
    }

    @Override
    public String nodeName() {
        return "node-1";
    }

    @Override
    public Path directory() {
        throw new UnsupportedOperationException("the provider is given its directory");
    }

    @Override
    public NodeLock lock(String name, Duration atMost) {
        Semaphore lock = locks.computeIfAbsent(name, key -> new Semaphore(1));
        try {
            if (!lock.tryAcquire(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new DraException("the lock %s is held".formatted(name));
            }
        } catch (InterruptedException e) {
            throw new DraException("interrupted", e);
        }
        return lock::release;
    }

    @Override
    public InstantSource clock() {
        return InstantSource.system();
    }

    @Override
    public List<HeldClaim> held() {
        return held;
    }

    @Override
    public void inventoryChanged() {
        changes.release();
    }

    @Override
    public void reportHealth(Collection<DeviceHealth> reports) {
        reports.forEach(report -> health.put(report.device().value(), report));
    }

    @Override
    public void notice(String subject, String message) {
        notices.add(subject + ": " + message);
    }

    @Override
    public void updateStatus(ClaimRef claim, HeldDevice device, DeviceStatus status) {
        throw new UnsupportedOperationException("this driver reports no status");
    }

    @Override
    public void updateMetadata(ClaimRef claim, HeldDevice device, DeviceMetadata metadata) {
        throw new UnsupportedOperationException("this driver has no metadata");
    }
}
