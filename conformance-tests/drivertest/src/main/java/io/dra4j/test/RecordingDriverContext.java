// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.NodeLock;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.error.DraException;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.rules.Names;
import io.dra4j.runtime.ClaimPreview;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A driver's context that records what a provider reports, and whose clock the test sets.
 *
 * <p>Nothing is published. Thread-safe.
 */
public final class RecordingDriverContext implements DriverContext {

    private final String driverName;
    private final String nodeName;
    private final List<HeldClaim> held = new ArrayList<>(); // guarded by this, as are all below
    private final List<DeviceHealth> health = new ArrayList<>();
    private final List<StatusUpdate> statuses = new ArrayList<>();
    private final List<MetadataUpdate> metadata = new ArrayList<>();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private final List<Notice> notices = new ArrayList<>();
    private int inventoryChanges;
    private @Nullable Path directory;
    private final Map<String, Semaphore> locks = new ConcurrentHashMap<>();
    private final Map<HeldClaim, PreparedClaim> answers = new ConcurrentHashMap<>();

    /**
     * Creates a context that holds no claims.
     *
     * @param driverName the driver's name
     * @param nodeName the node's name
     */
    public RecordingDriverContext(String driverName, String nodeName) {
        this.driverName = Objects.requireNonNull(driverName, "driverName");
        this.nodeName = Objects.requireNonNull(nodeName, "nodeName");
    }

    /**
     * A call of {@link DriverContext#updateStatus}.
     *
     * @param claim the claim
     * @param device the device
     * @param status the report
     */
    public record StatusUpdate(ClaimRef claim, HeldDevice device, DeviceStatus status) {}

    /**
     * A call of {@link DriverContext#updateMetadata}.
     *
     * @param claim the claim
     * @param device the device
     * @param metadata the metadata
     */
    public record MetadataUpdate(ClaimRef claim, HeldDevice device, DeviceMetadata metadata) {}

    /**
     * A call of {@link DriverContext#notice}.
     *
     * @param subject what it is about
     * @param message the sentences
     */
    public record Notice(String subject, String message) {}

    @Override
    public String driverName() {
        return driverName;
    }

    @Override
    public String nodeName() {
        return nodeName;
    }

    @Override
    public InstantSource clock() {
        return this::now;
    }

    private synchronized Instant now() {
        return now;
    }

    /**
     * Sets the time of {@link #clock}, which does not advance on its own.
     *
     * @param time the time
     */
    public synchronized void setTime(Instant time) {
        now = Objects.requireNonNull(time, "time");
    }

    /**
     * Advances the clock.
     *
     * @param time how far
     */
    public synchronized void advance(Duration time) {
        now = now.plus(time);
    }

    /**
     * Sets the driver's own directory.
     *
     * @param path a directory of the test
     */
    public synchronized void setDirectory(Path path) {
        directory = path.toAbsolutePath();
    }

    @Override
    public synchronized Path directory() {
        if (directory == null) {
            throw new IllegalStateException("The test has set no directory for the driver; call setDirectory");
        }
        return directory;
    }

    /**
     * Takes a lock that excludes the test's other threads: a test that holds it acts as the driver's other process.
     */
    @Override
    public NodeLock lock(String name, Duration atMost) {
        if (!Names.dnsLabelProblems(name).isEmpty()) {
            throw new IllegalArgumentException("Not the name of a lock: \"%s\"".formatted(name));
        }
        Semaphore lock = locks.computeIfAbsent(name, key -> new Semaphore(1, true));
        if (!isTaken(lock, atMost)) {
            throw new DraException("the lock %s of the driver %s was held by another thread of the test the whole time"
                    .formatted(name, driverName));
        }
        AtomicBoolean isHeld = new AtomicBoolean(true);
        return () -> {
            if (isHeld.getAndSet(false)) {
                lock.release();
            }
        };
    }

    private static boolean isTaken(Semaphore lock, Duration atMost) {
        try {
            return lock.tryAcquire(TimeUnit.NANOSECONDS.convert(atMost), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * Sets the claims that the driver holds; call it before the provider starts, as after a crash.
     *
     * @param claims the claims; {@link HeldClaims} makes them
     */
    public synchronized void setHeld(Collection<HeldClaim> claims) {
        List<HeldClaim> copy = List.copyOf(claims);
        held.clear();
        held.addAll(copy);
    }

    @Override
    public synchronized List<HeldClaim> held() {
        return List.copyOf(held);
    }

    /**
     * Prepares a claim as the runtime does: the claim is already held when the provider is called,
     * with the newest checkpoint, and if the provider fails, it has to unprepare the claim.
     *
     * <p>A claim that was prepared with these devices gets its earlier answer, and the provider is
     * not called; a claim that is held with other devices or in another phase is unprepared first.
     * Results that the runtime refuses are refused, and so is any state if the provider {@linkplain
     * DeviceProvider#changesNothing changes nothing} for the claim.
     *
     * @param provider the provider
     * @param claim the claim
     * @return what containers get
     * @throws Exception what the provider throws, or a {@link DraException} if its results are refused; if it can't
     *     unprepare the claim either, that is suppressed, and the claim stays held
     */
    @SuppressWarnings("try") // only closed
    public PreparedClaim prepare(DeviceProvider provider, AllocatedClaim claim) throws Exception {
        HeldClaim begun = HeldClaims.interrupted(claim, new RecordingClaimContext());
        Optional<HeldClaim> known = find(claim.ref());
        if (known.filter(one -> one.phase() == Phase.PREPARED && one.devices().equals(begun.devices()))
                .isPresent()) {
            return Optional.ofNullable(answers.get(known.get()))
                    .orElseThrow(() -> new IllegalStateException(
                            "Claim %s is prepared, and the runtime repeats its first answer, which this context does not have: unprepare it first"
                                    .formatted(claim.ref())));
        }
        if (known.isPresent()) {
            unprepare(provider, claim.ref());
        }
        boolean changesNothing = provider.changesNothing(claim);
        hold(begun);
        try (AutoCloseable undo = () -> {
            if (held(claim.ref()).phase() != Phase.PREPARED) {
                unprepare(provider, claim.ref());
            }
        }) {
            PreparedClaim prepared = provider.prepare(claim, context(state -> {
                ClaimPreview.check(claim, PreparedClaim.empty().withState(state), changesNothing);
                checkpoint(claim.ref(), state);
            }));
            ClaimPreview.check(claim, prepared, changesNothing);
            HeldClaim.Builder builder = held(claim.ref()).toBuilder().phase(Phase.PREPARED);
            HeldClaim done = (prepared.state() == null ? builder : builder.state(prepared.state())).build();
            answers.put(done, prepared);
            hold(done);
            return prepared;
        }
    }

    /**
     * Unprepares a claim as the runtime does: it is held until the provider's work is done, and the provider gets the
     * phase that it had before.
     *
     * @param provider the provider
     * @param claim a claim of {@link #held}
     * @throws Exception what the provider throws; the claim then stays held
     */
    public void unprepare(DeviceProvider provider, ClaimRef claim) throws Exception {
        HeldClaim known = held(claim);
        if (known.phase() != Phase.DAMAGED) { // it stays so until an unprepare succeeds
            hold(known.toBuilder().phase(Phase.UNPREPARING).build());
        }
        provider.unprepare(known, context(state -> checkpoint(claim, state)));
        synchronized (this) {
            held.removeIf(one -> one.ref().equals(claim));
        }
    }

    private HeldClaim held(ClaimRef claim) {
        return find(claim).orElseThrow(() -> new IllegalArgumentException("Claim " + claim + " is not held"));
    }

    private Optional<HeldClaim> find(ClaimRef claim) {
        return held().stream().filter(one -> one.ref().equals(claim)).findFirst();
    }

    private RecordingClaimContext context(Consumer<ProviderState> onCheckpoint) {
        return new RecordingClaimContext(now().plus(RecordingClaimContext.LIMIT), onCheckpoint);
    }

    private synchronized void checkpoint(ClaimRef claim, ProviderState state) {
        HeldClaim now = held(claim);
        if (now.phase() == Phase.PREPARED) {
            throw new DraException("The prepare of claim %s has ended: checkpoint before it returns".formatted(claim));
        }
        hold(now.toBuilder().state(state).build());
    }

    private synchronized void hold(HeldClaim claim) {
        held.removeIf(one -> one.ref().equals(claim.ref()));
        held.add(claim);
    }

    @Override
    public synchronized void inventoryChanged() {
        inventoryChanges++;
        notifyAll();
    }

    /** {@return how often the provider has reported a changed inventory} */
    public synchronized int inventoryChanges() {
        return inventoryChanges;
    }

    /**
     * Waits until the provider has reported a changed inventory a given number of times.
     *
     * @param count how often, since the context was made
     * @param timeout the longest wait
     * @return whether it has
     * @throws InterruptedException if the thread was interrupted
     */
    public synchronized boolean awaitInventoryChanges(int count, Duration timeout) throws InterruptedException {
        long end = System.nanoTime() + timeout.toNanos();
        while (inventoryChanges < count) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            wait(Math.max(1, left / 1_000_000));
        }
        return true;
    }

    @Override
    public synchronized void reportHealth(Collection<DeviceHealth> reports) {
        health.addAll(List.copyOf(reports));
    }

    /** {@return all reports of health, in their order} */
    public synchronized List<DeviceHealth> health() {
        return List.copyOf(health);
    }

    /**
     * Returns the last report of the health of a device, which may have expired.
     *
     * @param device the name of the device
     * @return the report; empty if there is none
     */
    public synchronized Optional<DeviceHealth> health(String device) {
        DeviceName name = new DeviceName(device);
        return health.stream().filter(report -> report.device().equals(name)).reduce((earlier, later) -> later);
    }

    @Override
    public synchronized void updateStatus(ClaimRef claim, HeldDevice device, DeviceStatus status) {
        statuses.add(new StatusUpdate(claim, device, status));
    }

    /** {@return all updates of the status of a claim, in their order} */
    public synchronized List<StatusUpdate> statuses() {
        return List.copyOf(statuses);
    }

    @Override
    public synchronized void updateMetadata(ClaimRef claim, HeldDevice device, DeviceMetadata update) {
        metadata.add(new MetadataUpdate(claim, device, update));
    }

    @Override
    public synchronized void notice(String subject, String message) {
        notices.add(new Notice(subject, message));
    }

    /** {@return all notices, in their order} */
    public synchronized List<Notice> notices() {
        return List.copyOf(notices);
    }

    /** {@return all updates of metadata, in their order} */
    public synchronized List<MetadataUpdate> metadata() {
        return List.copyOf(metadata);
    }
}
