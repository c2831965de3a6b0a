// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.Silence;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.DriverEvent.Severity;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers events to the host's listener and, as Kubernetes Events on the Node, to admins.
 *
 * <p>One thread delivers them in order; callers never wait. An event that repeats the last one about its subject is
 * delivered again after half an hour at the earliest. Events of the same reason and subject are at least a minute
 * apart: one that comes sooner is left out, and delivered again if it repeats after that minute. Events that can't be
 * created are dropped. A driver that lacks the permission tries again after ten minutes. Thread-safe.
 */
final class NodeEventRecorder implements EventRecorder, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(NodeEventRecorder.class);
    private static final Duration REMINDER = Duration.ofMinutes(30);
    private static final Duration EVENT_INTERVAL = Duration.ofMinutes(1);
    private static final Duration LEFT_OUT = Duration.ofMinutes(10);
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
    private final Map<String, Recorded> recorded = new HashMap<>(); // guarded by this, as are the next
    private final Map<String, Instant> lastEvents = new HashMap<>(); // by reason and subject

    // Used only by the delivery's thread.
    private boolean eventsFail;
    private @Nullable Instant leftOutSince;

    NodeEventRecorder(DriverSettings settings, Events events, Meters meters) {
        this.onRecoverable = settings.onRecoverable;
        this.onFatal = settings.onFatal;
        this.events = events;
        this.meters = meters;
        this.clock = settings.clock;
        Stream.of(Reason.values())
                .filter(reason -> reason.severity().isProblem())
                .forEach(reason -> meters.count(Metric.PROBLEMS, 0, reason.apiName()));
        this.delivery = new ThreadPoolExecutor(
                1,
                1,
                0,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(LONGEST_QUEUE),
                ShortLivedThreads.named("dra4j-events"));
    }

    @Override
    public void record(DriverEvent event) {
        Instant now = clock.instant();
        boolean withEvent;
        synchronized (this) {
            if (!isNews(event, now)) {
                return;
            }
            withEvent = event.reason() != Reason.CLUSTER_UNREACHABLE && isEventDue(event, now);
        }
        try {
            if (event.reason().severity() == Severity.FATAL) {
                delivery.getQueue().clear(); // nothing else matters now
            }
            delivery.execute(() -> deliver(event, withEvent, now));
        } catch (RejectedExecutionException | OutOfMemoryError e) { // no thread must not end the caller
            forget(event);
            LOG.atDebug()
                    .setCause(e)
                    .log("Event dropped: too many are waiting, or the recorder is closed: {}", event.message());
        }
    }

    private boolean isNews(DriverEvent event, Instant now) {
        Recorded before = recorded.get(event.subject());
        if (before != null && event.isSameAs(before.event) && Silence.isWithin(REMINDER, before.at, now)) {
            return false;
        }
        boolean isEndOfSilence = before != null
                && before.event.reason() == Reason.CLUSTER_UNREACHABLE
                && event.reason() == Reason.PUBLISHING_RECOVERED;
        recorded.put(event.subject(), new Recorded(event, now));
        return !isEndOfSilence; // there was no Event of the outage either
    }

    /** Returns whether an Event may be created; if not, the first repetition that may have one is news again. */
    private boolean isEventDue(DriverEvent event, Instant now) {
        String kind = kind(event);
        Instant last = lastEvents.get(kind);
        if (last != null && Silence.isWithin(EVENT_INTERVAL, last, now)) {
            Instant silenced = last.plus(EVENT_INTERVAL).minus(REMINDER);
            recorded.put(event.subject(), new Recorded(event, silenced));
            return false;
        }
        lastEvents.put(kind, now);
        return true;
    }

    private static String kind(DriverEvent event) {
        return event.reason() + " " + event.subject();
    }

    private synchronized void forget(DriverEvent event) {
        recorded.remove(event.subject());
        lastEvents.remove(kind(event));
    }

    private void deliver(DriverEvent event, boolean withEvent, Instant at) {
        if (event.reason().severity().isProblem()) {
            meters.count(Metric.PROBLEMS, event.reason().apiName());
        }
        notifyListener(event);
        if (withEvent && !Silence.isWithin(LEFT_OUT, leftOutSince, at)) {
            createEvent(event, at);
        }
    }

    private void notifyListener(DriverEvent event) {
        try {
            if (event.reason().severity() == Severity.FATAL) {
                onFatal.accept(new DraException(event.message(), event.cause()));
            } else if (event.reason().severity() == Severity.PROBLEM) {
                onRecoverable.accept(new DraException(event.message(), event.cause()));
            }
        } catch (RuntimeException e) { // of a listener
            LOG.atError().setCause(e).log("The driver's listener failed");
        }
    }

    private void createEvent(DriverEvent event, Instant at) {
        boolean warning = event.reason().severity().isProblem();
        try {
            events.create(warning, event.reason().apiName(), event.message());
            eventsFail = false;
        } catch (ClusterException.Forbidden e) { // which is logged where it is noticed
            leftOutSince = at;
        } catch (ClusterException e) {
            if (!eventsFail) {
                LOG.atWarn().setCause(e).log("Could not create an Event on the Node");
            }
            eventsFail = true;
        }
    }

    /** Delivers pending events, for a second at most. */
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

    private record Recorded(DriverEvent event, Instant at) {}
}
