// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.health;

import io.dra4j.api.device.Inventory;
import io.dra4j.api.health.HealthState;
import io.dra4j.runtime.internal.health.HealthReports.Current;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Sends the complete list of devices to listeners: immediately, after each change, when a report expires, and at least
 * every ten seconds.
 *
 * <p>The kubelet treats a device as unknown after {@link #TIMEOUT} without an update, and so also when this process
 * hangs. One thread creates the lists and calls the listeners. Thread-safe.
 */
public final class HealthFeed implements AutoCloseable {

    /** The time after which a listener should no longer trust its last list. */
    public static final Duration TIMEOUT = Duration.ofSeconds(30);

    private static final Logger LOG = LoggerFactory.getLogger(HealthFeed.class);
    static final Duration REPEAT = Duration.ofSeconds(10);

    private final HealthReports reports;
    private final Supplier<Optional<Inventory>> inventory;
    private final ScheduledExecutorService loop;
    private final Set<Listener> listeners = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean lookPosted = new AtomicBoolean();
    private volatile boolean closed;

    // Used only by the loop's thread.
    private final Map<List<?>, HealthState> known = new HashMap<>(); // by pool and device
    private List<Current> lastSent = List.of();
    private @Nullable ScheduledFuture<?> repeat;
    private @Nullable ScheduledFuture<?> expiry;

    public HealthFeed(HealthReports reports, Supplier<Optional<Inventory>> inventory) {
        this(reports, inventory, ShortLivedThreads.upkeep("dra4j-health"));
    }

    HealthFeed(HealthReports reports, Supplier<Optional<Inventory>> inventory, ScheduledExecutorService loop) {
        this.reports = reports;
        this.inventory = inventory;
        this.loop = loop;
        sendAll(); // without listeners yet: from here on it repeats
        look();
        reports.onReport(this::onReport); // last: reports may come from any thread
        onReport(); // of what was reported meanwhile
    }

    /** Receives lists of devices; neither method may block or throw. */
    public interface Listener {

        void update(List<Current> devices);

        /** Is notified that there will be no more lists. */
        void end();
    }

    /** Starts sending to a listener, the complete list first; a listener that joins after the end is notified of it. */
    public void join(Listener listener) {
        listeners.add(listener);
        post(() -> send(listener));
        if (closed) {
            endAll();
        }
    }

    public void leave(Listener listener) {
        listeners.remove(listener);
    }

    private void send(Listener listener) {
        if (listeners.contains(listener)) {
            listener.update(list());
        }
    }

    private void onReport() {
        if (!lookPosted.getAndSet(true)) {
            post(() -> {
                lookPosted.set(false);
                look();
            });
        }
    }

    private void look() {
        expiry = later(expiry, this::look, reports.untilExpiry().orElse(REPEAT));
        if (!list().equals(lastSent)) {
            sendAll();
        }
    }

    private void sendAll() {
        repeat = later(repeat, this::sendAll, REPEAT);
        List<Current> devices = list();
        log(devices);
        lastSent = devices;
        listeners.forEach(listener -> listener.update(devices));
    }

    /** Logs a change, except a first report that is healthy, and except for devices that were never reported. */
    private void log(List<Current> devices) {
        Map<List<?>, HealthState> before = Map.copyOf(known);
        known.clear();
        for (Current device : devices) {
            List<?> id = List.of(device.pool(), device.device());
            if (before.containsKey(id) || device.state() != HealthState.UNKNOWN) {
                known.put(id, device.state());
                log(before.getOrDefault(id, HealthState.HEALTHY), device);
            }
        }
    }

    private static void log(HealthState from, Current device) {
        if (from != device.state()) {
            LOG.atLevel(device.state() == HealthState.HEALTHY ? Level.INFO : Level.WARN)
                    .addKeyValue(LogField.POOL, device.pool())
                    .addKeyValue(LogField.DEVICE, device.device())
                    .addKeyValue(LogField.REASON, device.message())
                    .log("The health of a device changed from {} to {}", from, device.state());
        }
    }

    private List<Current> list() {
        return inventory.get().map(reports::current).orElse(List.of());
    }

    private ScheduledFuture<?> later(@Nullable ScheduledFuture<?> old, Runnable task, Duration in) {
        if (old != null) {
            old.cancel(false);
        }
        return loop.schedule(task, in.toMillis() + 1, TimeUnit.MILLISECONDS);
    }

    private void post(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            // closed: no listeners are left
        }
    }

    /** Notifies every listener of the end. */
    @Override
    public void close() {
        closed = true;
        loop.shutdownNow();
        endAll();
    }

    private void endAll() {
        listeners.forEach(listener -> {
            if (listeners.remove(listener)) {
                listener.end();
            }
        });
    }
}
