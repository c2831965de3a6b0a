// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DriverContext;
import io.dra4j.api.NodeLock;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.DraException;
import io.dra4j.api.health.DeviceHealth;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A runtime with a journal of the claims, which records the provider's reports; calls can be cut off as by a crash. */
final class JournaledClaims implements DriverContext {

    /** Ends a call as a crash does. */
    static final class Crash extends Error {
        private static final long serialVersionUID = 1;
    }

    private static final int TIMEOUT_SECONDS = 60;

    volatile boolean isUnreadable; // the journal
    boolean changedNothing; // the last prepare, as the provider said before
    final List<HeldClaim> held = new CopyOnWriteArrayList<>();
    Duration timeout = Duration.ofSeconds(30);
    private int crashAt;
    private int checkpoints;
    final Map<String, DeviceHealth> health = new ConcurrentHashMap<>();
    final List<String> notices = new CopyOnWriteArrayList<>();
    private final Map<String, Semaphore> locks = new ConcurrentHashMap<>();
    private final Semaphore changes = new Semaphore(0);

    /** Lets the next call crash at a checkpoint, by its number from 1, or after it, by the negative; 0 for never. */
    void crashAt(int checkpoint) {
        crashAt = checkpoint;
        checkpoints = 0;
    }

    /** Prepares a claim; one that fails is unprepared, and one that crashes is not. */
    PreparedClaim prepare(NvidiaDeviceProvider provider, AllocatedClaim claim) {
        try {
            return begin(provider, claim);
        } catch (RuntimeException e) {
            unprepare(provider, claim.ref());
            throw e;
        }
    }

    /** Prepares a claim; one that fails stays as far as it has come. */
    PreparedClaim begin(NvidiaDeviceProvider provider, AllocatedClaim claim) {
        HeldClaim begun = HeldClaim.builder(claim.ref())
                .phase(Phase.PREPARING)
                .devices(claim.devices().stream().map(AllocatedDevice::held).toList())
                .build();
        held.add(begun);
        boolean changesNothing = provider.changesNothing(claim);
        changedNothing = changesNothing; // until another claim's
        PreparedClaim prepared = provider.prepare(claim, context(claim.ref()));
        ProviderState answered = prepared.state();
        ProviderState state = answered == null ? of(claim.ref()).state() : answered;
        assertThat(state == null || !changesNothing).as("no state to keep").isTrue();
        replace(begun.toBuilder().phase(Phase.PREPARED).state(state).build());
        return prepared;
    }

    void unprepare(NvidiaDeviceProvider provider, ClaimRef ref) {
        HeldClaim claim = of(ref);
        provider.unprepare(claim, context(ref));
        held.removeIf(one -> one.ref().equals(ref));
    }

    HeldClaim of(ClaimRef ref) {
        return held.stream().filter(one -> one.ref().equals(ref)).findFirst().orElseThrow();
    }

    void replace(HeldClaim changed) {
        held.replaceAll(one -> one.ref().equals(changed.ref()) ? changed : one);
    }

    private ClaimContext context(ClaimRef ref) {
        Instant deadline = Instant.now().plus(timeout);
        return new ClaimContext() {
            @Override
            public Instant deadline() {
                return deadline;
            }

            @Override
            public void checkpoint(ProviderState state) {
                checkpoints++;
                if (checkpoints == crashAt) {
                    throw new Crash();
                }
                replace(of(ref).toBuilder().state(state).build());
                if (checkpoints == -crashAt) {
                    throw new Crash();
                }
            }
        };
    }

    /** Waits until the provider asks for its inventory to be read. */
    void awaitChange() throws InterruptedException {
        if (!changes.tryAcquire(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("The inventory did not change");
        }
    }

    /** Waits for a change that may not come. */
    void awaitChangeBriefly() throws InterruptedException {
        changes.tryAcquire(1, TimeUnit.SECONDS);
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
        if (isUnreadable) {
            throw new DraException("the journal can't be read");
        }
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
