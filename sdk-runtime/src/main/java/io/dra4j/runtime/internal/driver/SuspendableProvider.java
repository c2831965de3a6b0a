// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.api.metrics.DeviceMeter;
import io.dra4j.api.metrics.DeviceReadings;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A provider that is suspended during maintenance while none of its hardware is in use.
 *
 * <p>While suspended, it returns the inventory that was read last, and a claim that arrives resumes it. Thread-safe.
 */
final class SuspendableProvider implements DeviceProvider {

    private static final Logger LOG = LoggerFactory.getLogger(SuspendableProvider.class);

    private static final Duration LONG = Duration.ofSeconds(30);

    private final DeviceProvider provider;
    private final InstantSource clock;
    private final LongSupplier nanos;

    /** Locked for reading to use the hardware, for writing to suspend and resume. */
    private final ReadWriteLock lock = new ReentrantReadWriteLock();

    private final Set<Use> uses = ConcurrentHashMap.newKeySet();
    private final Switches switches = new Switches();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean suspended;
    private volatile @Nullable Inventory last;

    SuspendableProvider(DeviceProvider provider, InstantSource clock, LongSupplier nanos) {
        this.provider = provider;
        this.clock = clock;
        this.nanos = nanos;
    }

    /** A call of the provider in progress; equal only to itself. */
    private static final class Use {
        final String call;
        final Instant since;
        final long begun; // on the monotonic clock

        Use(String call, Instant since, long begun) {
            this.call = call;
            this.since = since;
            this.begun = begun;
        }

        @Override
        public String toString() {
            return "%s, in progress since %s".formatted(call, since.truncatedTo(ChronoUnit.SECONDS));
        }
    }

    /**
     * Suspends the provider, unless it is in use; on the thread that follows maintenance.
     *
     * @return whether it is suspended now; false while a call of it takes long
     */
    boolean trySuspend() throws Exception {
        if (!suspended || switches.isRunning()) {
            switches.run(this::suspendUnlessInUse);
        } else {
            switches.finish();
        }
        return !switches.isRunning() && suspended; // in this order: a call that ends in between has changed it
    }

    private void suspendUnlessInUse() throws Exception {
        if (lock.writeLock().tryLock()) {
            try {
                if (suspended) {
                    return; // by an earlier long-running call
                }
                calling("suspend", () -> {
                    provider.suspend();
                    return true;
                });
                suspended = true;
                LOG.atInfo().log("The driver has released its hardware for maintenance");
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    /**
     * Resumes the provider; on the thread that follows maintenance.
     *
     * @return whether it is in use again; false while a call to suspend or resume it takes long
     */
    boolean tryResume() throws Exception {
        if (suspended) {
            switches.run(this::resume);
        } else {
            switches.finish();
        }
        return !switches.isRunning() && !suspended; // in this order: a call that ends in between has changed it
    }

    /** Returns whether a call to suspend or resume the provider is in progress. */
    boolean isSwitching() {
        return switches.isRunning();
    }

    /** Returns whether the provider is suspended, or being suspended or resumed. */
    boolean isSuspended() {
        return suspended || switches.isRunning();
    }

    /** Returns whether a call that {@link #longUse} has named is still in progress. */
    boolean isInProgress(String use) {
        return uses.stream().anyMatch(each -> each.toString().equals(use));
    }

    /** Returns a description of the provider's long-running call; empty if there isn't one. */
    Optional<String> longUse() {
        long now = nanos.getAsLong();
        return uses.stream()
                .filter(use -> now - use.begun >= LONG.toNanos())
                .max(Comparator.comparing(use -> now - use.begun))
                .map(Use::toString);
    }

    /** Calls the provider; the caller holds the lock. */
    private <T> T calling(String name, Callable<T> call) throws Exception {
        Use use = new Use(name, clock.instant(), nanos.getAsLong());
        uses.add(use);
        try {
            return call.call();
        } finally {
            uses.remove(use);
        }
    }

    @Override
    public void resume() throws Exception {
        if (!suspended) {
            return; // a waiting writer would block readers
        }
        lock.writeLock().lock();
        try {
            if (suspended) {
                calling("resume", () -> {
                    provider.resume();
                    return true;
                });
                suspended = false;
                LOG.atInfo().log("The driver uses its hardware again");
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    private <T> T use(String name, Callable<T> call) throws Exception {
        while (true) {
            lock.readLock().lock();
            try {
                if (!suspended) {
                    return calling(name, call);
                }
            } finally {
                lock.readLock().unlock();
            }
            resume();
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
        lock.readLock().lock();
        try {
            Inventory known = last;
            if (!suspended) {
                Inventory read = calling("inventory", provider::inventory);
                Inventory kept = known != null && known.equals(read) ? known : read; // equal devices in memory once
                last = kept;
                return kept;
            }
            if (known == null) {
                throw new DraException("The devices are unknown: they could not be read before the driver released its"
                        + " hardware; run `maintenance off` to read them");
            }
            return known;
        } finally {
            lock.readLock().unlock();
        }
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) throws Exception {
        return use("prepare of " + claim.ref(), () -> provider.prepare(claim, context));
    }

    @Override
    public boolean changesNothing(AllocatedClaim claim) {
        return provider.changesNothing(claim);
    }

    @Override
    public void unprepare(HeldClaim claim, ClaimContext context) throws Exception {
        use("unprepare of " + claim.ref(), () -> {
            provider.unprepare(claim, context);
            return true;
        });
    }

    /** Opens a meter that has no values while the provider is suspended. */
    @Override
    public DeviceMeter meter() throws Exception {
        DeviceMeter meter = unlessSuspended("meter", provider::meter, DeviceMeter.NONE);
        if (meter == DeviceMeter.NONE) {
            return meter;
        }
        return new DeviceMeter() {
            @Override
            public DeviceReadings measure(HeldClaim claim, HeldDevice device) throws Exception {
                return unlessSuspended(
                        "measure of " + device.device(), () -> meter.measure(claim, device), DeviceReadings.NONE);
            }

            @Override
            public void close() {
                meter.close();
            }
        };
    }

    private <T> T unlessSuspended(String name, Callable<T> call, T otherwise) throws Exception {
        lock.readLock().lock();
        try {
            return suspended ? otherwise : calling(name, call);
        } finally {
            lock.readLock().unlock();
        }
    }

    @Override
    public Optional<String> restartReason() {
        return provider.restartReason();
    }

    /** Closes the provider at the first call; it is among the parts twice: from the beginning, and from its start on. */
    @Override
    public void close() {
        if (!closed.getAndSet(true)) {
            provider.close();
        }
    }

    @Override
    public String toString() {
        return provider.toString();
    }

    /**
     * Calls that suspend or resume a provider, one at a time, on a separate thread.
     *
     * <p>A call that hangs in the hardware does not block its caller, who continues without the result and
     * asks again. Used on one thread.
     */
    private static final class Switches {

        /** A call that takes longer is left running until the caller's next look. */
        private static final Duration WAIT = Duration.ofMillis(200);

        private final Executor threads = ShortLivedThreads.unlimited("dra4j-suspend");
        private @Nullable FutureTask<Boolean> running;

        @FunctionalInterface
        interface Switch {
            void run() throws Exception;
        }

        /**
         * Starts a call, unless an earlier one is still in progress, and waits briefly.
         *
         * @throws Exception what the call, or an earlier long-running one, has thrown
         */
        void run(Switch next) throws Exception {
            finish();
            FutureTask<Boolean> now = running;
            if (now == null) {
                now = started(next);
                running = now;
            }
            await(now);
        }

        /**
         * Discards a long-running call that has ended since.
         *
         * @throws Exception what it has thrown
         */
        void finish() throws Exception {
            FutureTask<Boolean> late = running;
            if (late != null && late.isDone()) {
                await(late);
            }
        }

        private void await(FutureTask<Boolean> now) throws Exception {
            try {
                now.get(WAIT.toMillis(), TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                return;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // the driver ends
                return;
            } catch (ExecutionException e) {
                running = null;
                throw e.getCause() instanceof Exception known ? known : e;
            }
            running = null;
        }

        private FutureTask<Boolean> started(Switch next) {
            FutureTask<Boolean> task = new FutureTask<>(() -> {
                next.run();
                return true;
            });
            threads.execute(task);
            return task;
        }

        boolean isRunning() {
            return running != null && !running.isDone();
        }
    }
}
