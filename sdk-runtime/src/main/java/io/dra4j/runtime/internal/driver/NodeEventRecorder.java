// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.DriverEvent.Severity;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes notices to the host's listener and, as Events on the Node, to the cluster's admins.
 *
 * <p>One thread delivers them in order; whoever gives a notice never waits. A notice that repeats
 * the last one about its subject is delivered again after half an hour at the earliest. Of Events
 * with one reason and subject there is one a minute at most; those that can't be created are left
 * out: a driver may lack the permission. Thread-safe.
 */
final class NodeEventRecorder implements EventRecorder, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(NodeEventRecorder.class);
    private static final Duration REMINDER = Duration.ofMinutes(30);
    private static final Duration EVENT_INTERVAL = Duration.ofMinutes(1);
    private static final int LONGEST_QUEUE = 100;
    private static final int LAST_SECONDS = 1;

    /** Creates Kubernetes Events on the Node, or throws {@link ClusterException}. */
    @FunctionalInterface
    interface Events {
        void create(boolean warning, String reason, String message);
    }

    private final Consumer<DraException> onRecoverable;
    private final Consumer<DraException> onFatal;
    private final Events events;
    private final Meters meters;
    private final InstantSource clock;
    private final ThreadPoolExecutor delivery;
    private final Map<String, Told> told = new HashMap<>(); // guarded by this

    // Of the delivery's thread.
    private final Map<String, Instant> lastEvents = new HashMap<>();
    private boolean eventsFail;

    NodeEventRecorder(
            Consumer<DraException> onRecoverable,
            Consumer<DraException> onFatal,
            Events events,
            Meters meters,
            InstantSource clock) {
        this.onRecoverable = onRecoverable;
        this.onFatal = onFatal;
        this.events = events;
        this.meters = meters;
        Stream.of(Reason.values())
                .filter(reason -> reason.severity() != Severity.GOOD_NEWS)
                .forEach(reason -> meters.count(Metric.PROBLEMS, 0, reason.apiName()));
        this.clock = clock;
        this.delivery =
                new ThreadPoolExecutor(
                        1,
                        1,
                        0,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(LONGEST_QUEUE),
                        NodeEventRecorder::thread);
    }

    private static Thread thread(Runnable task) {
        Thread thread = new Thread(task, "dra4j-notices");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void take(DriverEvent notice) {
        Instant now = clock.instant();
        if (!isNews(notice, now)) {
            return;
        }
        try {
            if (notice.reason().severity() == Severity.FATAL) {
                delivery.getQueue().clear(); // nothing else matters now
            }
            delivery.execute(() -> deliver(notice, now));
        } catch (RejectedExecutionException e) {
            forget(notice);
            LOG.atDebug().log("Too many notices, or closed; left out: {}", notice.message());
        }
    }

    private synchronized boolean isNews(DriverEvent notice, Instant now) {
        Told before = told.get(notice.subject());
        if (before != null
                && notice.isSameAs(before.notice)
                && now.isBefore(before.at.plus(REMINDER))) {
            return false;
        }
        boolean isEndOfSilence =
                before != null
                        && before.notice.reason() == Reason.CLUSTER_UNREACHABLE
                        && notice.reason() == Reason.PUBLISHING_RECOVERED;
        told.put(notice.subject(), new Told(notice, now));
        return !isEndOfSilence; // there was no Event of the outage either
    }

    private synchronized void forget(DriverEvent notice) {
        told.remove(notice.subject());
    }

    private void deliver(DriverEvent notice, Instant at) {
        if (notice.reason().severity() != Severity.GOOD_NEWS) {
            meters.count(Metric.PROBLEMS, notice.reason().apiName());
        }
        tellListener(notice);
        if (notice.reason() != Reason.CLUSTER_UNREACHABLE) {
            createEvent(notice, at);
        }
    }

    private void tellListener(DriverEvent notice) {
        try {
            if (notice.reason().severity() == Severity.FATAL) {
                onFatal.accept(new DraException(notice.message(), notice.cause()));
            } else if (notice.reason().severity() == Severity.PROBLEM) {
                onRecoverable.accept(new DraException(notice.message(), notice.cause()));
            }
        } catch (RuntimeException e) { // whatever a listener throws
            LOG.atError().setCause(e).log("The driver's listener failed");
        }
    }

    private void createEvent(DriverEvent notice, Instant at) {
        String kind = notice.reason() + " " + notice.subject();
        Instant last = lastEvents.get(kind);
        if (last != null && at.isBefore(last.plus(EVENT_INTERVAL))) {
            return;
        }
        lastEvents.put(kind, at);
        boolean warning = notice.reason().severity() != Severity.GOOD_NEWS;
        try {
            events.create(warning, notice.reason().apiName(), notice.message());
            eventsFail = false;
        } catch (ClusterException e) {
            if (!eventsFail) {
                LOG.atWarn()
                        .setCause(e)
                        .log(
                                "Could not create an Event on the Node; the driver's ServiceAccount"
                                        + " needs the verb create on events in namespace default");
            }
            eventsFail = true;
        }
    }

    /** Delivers what was taken, for a second at most. */
    @Override
    public void close() {
        delivery.shutdown();
        try {
            if (!delivery.awaitTermination(LAST_SECONDS, TimeUnit.SECONDS)) {
                delivery.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private record Told(DriverEvent notice, Instant at) {}
}
