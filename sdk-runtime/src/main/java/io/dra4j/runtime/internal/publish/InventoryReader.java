// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.observe.LogField;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Reads the inventory when it may have changed, and keeps the last one that could be read.
 *
 * <p>The provider is called on its own thread: a provider that hangs in its hardware does not keep the publisher from
 * repairs. A failure is logged with its stack when its reason changes, and with its count otherwise. Used only on the
 * loop's thread, except where a method is documented otherwise.
 */
final class InventoryReader {

    private static final Logger LOG = LoggerFactory.getLogger(InventoryReader.class);
    private static final Duration LONGEST_READ = Duration.ofMinutes(1);
    // Ten reads immediately and then one per second, for providers that change constantly.
    private static final Duration READ_INTERVAL = Duration.ofSeconds(1);
    private static final Duration READ_BURST = READ_INTERVAL.multipliedBy(9);
    private static final String INVENTORY = "inventory";

    private final Callable<Inventory> source;
    private final Executor providerThread;
    private final Executor loop;
    private final Runnable onRead;
    private final InstantSource clock;
    private final EventRecorder events;
    private final LeftOutDevices leftOut;
    private final Retries retries;
    private final Set<DeviceName> announced = new HashSet<>();
    private final CountDownLatch firstResult = new CountDownLatch(1);
    // The count of reported changes of the inventory, and how many of them are read.
    private final AtomicLong requested = new AtomicLong(1);
    private Instant readsPaidUntil = Instant.EPOCH;
    private long completed;
    private long failedAt;
    private @Nullable Instant readingSince;
    private boolean failing;
    private int failures; // since the last success
    private volatile @Nullable String problem;
    private volatile @Nullable Inventory last;

    /**
     * Starts with no inventory.
     *
     * @param loop runs tasks on the loop's thread
     * @param onRead called there after each result of the provider
     */
    InventoryReader(
            Callable<Inventory> source,
            Executor providerThread,
            Executor loop,
            Runnable onRead,
            InstantSource clock,
            RandomGenerator random,
            EventRecorder events) {
        this.source = source;
        this.providerThread = providerThread;
        this.loop = loop;
        this.onRead = onRead;
        this.clock = clock;
        this.events = events;
        this.leftOut = new LeftOutDevices(events);
        this.retries = new Retries(random);
    }

    /** Reports that the inventory may have changed; from any thread. */
    void changed() {
        requested.incrementAndGet();
    }

    /** Returns the last inventory that could be read; {@code null} before the first; from any thread. */
    @Nullable
    Inventory last() {
        return last;
    }

    /** Returns whether the last inventory was read after all reported changes. */
    boolean isCurrent() {
        return completed == requested.get();
    }

    boolean isReading() {
        return readingSince != null;
    }

    /** Returns whether the last read has failed, or takes too long. */
    boolean isFailing() {
        return failing;
    }

    /** Returns why the last read failed; {@code null} if it did not; from any thread. */
    @Nullable
    String problem() {
        return problem;
    }

    /** Waits for the provider's first result or failure; from any thread. */
    boolean awaitFirstResult(Duration limit) throws InterruptedException {
        return firstResult.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Returns the time of the next step; empty if the inventory is current. */
    Optional<Instant> due() {
        if (readingSince != null) {
            return failing ? Optional.empty() : Optional.of(readingSince.plus(LONGEST_READ));
        }
        return isCurrent() ? Optional.empty() : Optional.of(nextRead());
    }

    private Instant nextRead() {
        Instant retry = failedAt == requested.get() ? retries.due() : Instant.EPOCH;
        Instant allowed = readsPaidUntil.minus(READ_BURST);
        return retry.isAfter(allowed) ? retry : allowed;
    }

    void refresh() {
        Instant now = clock.instant();
        if (readingSince != null) {
            if (!failing && !now.isBefore(readingSince.plus(LONGEST_READ))) {
                failed("it has not completed for a minute", null);
            }
        } else if (!isCurrent() && !nextRead().isAfter(now)) {
            readingSince = now;
            readsPaidUntil = (readsPaidUntil.isAfter(now) ? readsPaidUntil : now).plus(READ_INTERVAL);
            long request = requested.get();
            try {
                providerThread.execute(() -> read(request));
            } catch (OutOfMemoryError e) { // no more threads for a while
                failed(request, e);
            }
        }
    }

    /** On the provider's thread. */
    private void read(long request) {
        try {
            Inventory read = source.call();
            if (read == null) {
                throw new IllegalStateException(
                        "DeviceProvider.inventory() returned null; return Inventory.of() if there are no devices");
            }
            last = read;
            loop.execute(() -> succeeded(request, read));
        } catch (Throwable e) { // of a provider: without a result, there would be no more reads
            loop.execute(() -> failed(request, e));
        } finally {
            firstResult.countDown();
        }
    }

    private void succeeded(long request, Inventory read) {
        readingSince = null;
        completed = request;
        retries.succeeded();
        if (failing) {
            failing = false;
            LOG.atInfo().log("The provider can read its inventory again, after {} failures", failures);
            failures = 0;
            problem = null;
            report(Reason.PUBLISHING_RECOVERED, "The driver can read its devices again", null);
        }
        List<DeviceName> offered = read.pools().stream()
                .flatMap(pool -> pool.devices().stream())
                .map(Device::name)
                .toList();
        announced.retainAll(Set.copyOf(offered));
        offered.stream().filter(announced::add).forEach(name -> LOG.atDebug().log("About to announce device {}", name));
        leftOut.read(read);
        onRead.run();
    }

    private void failed(long request, Throwable failure) {
        readingSince = null;
        failedAt = request;
        retries.failed(clock.instant(), null);
        failed(why(failure), failure);
        onRead.run();
    }

    /** The message of a known failure has all that an admin needs. */
    private static String why(Throwable failure) {
        String message = failure instanceof DraException ? failure.getMessage() : null;
        return message == null ? failure.toString() : message;
    }

    private void failed(String why, @Nullable Throwable failure) {
        failing = true;
        failures++;
        boolean isKnown = why.equals(problem);
        problem = why;
        LOG.atLevel(isKnown ? Level.DEBUG : Level.ERROR)
                .addKeyValue(LogField.REASON, why)
                .setCause(failure instanceof DraException || isKnown ? null : failure)
                .log(
                        "The provider could not read its inventory; the last good slices stay{}",
                        isKnown ? "; " + failures + " failures in a row" : "");
        report(
                Reason.INVENTORY_UNREADABLE,
                "The driver could not read its devices; the last good ResourceSlices stay: " + why,
                failure);
    }

    private void report(Reason reason, String message, @Nullable Throwable cause) {
        events.record(new DriverEvent(reason, INVENTORY, message, cause));
    }
}
