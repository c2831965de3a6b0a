// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlEvents.Event;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.nvml.Placement;
import io.dra4j.nvidia.nvml.Reading;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Waits for events of the GPUs, on a thread of its own, and has the GPUs read again at intervals,
 * when the installed driver changes, and soon after a failure. It keeps a session of NVML open only
 * while the node wants events.
 */
public final class GpuWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GpuWatch.class);

    /** The timeout of one wait for NVML, and so the longest time until the end. */
    private static final Duration WAIT = Duration.ofMillis(250);

    /** The longest time between two tries after a failure. */
    private static final Duration RETRY = Duration.ofSeconds(5);

    private final Nvml nvml;
    private final Node node;
    private final DeviceFaults faults;
    private final Severity severity;
    private final Duration interval;
    private final InstantSource clock;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "gpu-watch");
    private Instant lastRead;
    private String installed;
    private @Nullable Subscription first; // handed over to the thread when it starts
    private boolean settled;
    private Duration wait = WAIT; // of the thread, after the next failure
    private boolean isFailing;

    /** The node whose GPUs are watched. */
    public interface Node {

        /** Returns the last reading. */
        Reading last();

        /** Returns whether the last attempt to read failed. */
        boolean isUnreadable();

        /** Returns whether events are worth an open session now. */
        boolean wantsEvents();

        /** Requests a new reading; returns at once. */
        void changed();

        /** Called at the start, and at each interval before the reading. */
        void resume();

        /** Called at each interval, before the reading. */
        void beforeReading();

        /**
         * Called an interval after the start: by then the devices of claims are known.
         *
         * @return whether it need not be called again
         */
        boolean settled();
    }

    /** Creates a watch that is not started yet. */
    public GpuWatch(
            Nvml nvml, Node node, DeviceFaults faults, HealthPolicy policy, InstantSource clock) {
        this.nvml = nvml;
        this.node = node;
        this.faults = faults;
        this.severity = new Severity(nvml, policy.ignoredXids());
        this.interval = policy.rescanInterval();
        this.clock = clock;
        this.lastRead = clock.instant();
        this.installed = nvml.fingerprint();
    }

    /** Starts: events after the return are noticed, if the node wants any. */
    public void start() {
        if (node.wantsEvents()) {
            try {
                first = subscribe();
            } catch (NvmlException e) {
                LOG.atDebug().setCause(e).log("Can't subscribe to events of the GPUs yet");
            }
        }
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler(
                (ended, e) ->
                        LOG.atError()
                                .setCause(e)
                                .log(
                                        "Unexpected error ended the watch of the GPUs: failed GPUs are not tainted any more"));
        thread.start();
    }

    private Subscription subscribe() {
        Subscription events = Subscription.open(nvml, present(node.last()));
        if (faults.unmonitored(events.unmonitored())) {
            if (!events.unmonitored().isEmpty()) {
                LOG.atWarn()
                        .addKeyValue("gpus", events.unmonitored())
                        .log("GPUs report no errors now; only their loss is detected");
            }
            node.changed();
        }
        return events;
    }

    private Subscription firstOrNext() {
        Subscription opened = first;
        first = null;
        return opened == null ? subscribe() : opened;
    }

    private void run() {
        node.resume();
        while (!isClosing()) {
            try {
                if (first != null || node.wantsEvents()) {
                    follow();
                } else {
                    idle();
                }
            } catch (NvmlException e) {
                failed(e);
                pause(wait);
                wait = wait.compareTo(RETRY) < 0 ? wait.multipliedBy(2) : RETRY;
                readIfDue();
            }
        }
    }

    private void failed(NvmlException e) {
        if (e.reason() == Reason.GIVEN_BACK) {
            return; // on request
        }
        LOG.atLevel(isFailing ? Level.DEBUG : Level.WARN)
                .setCause(e)
                .log("Can't follow events of the GPUs now; trying again");
        isFailing = true;
        node.changed();
    }

    private static Set<String> present(Reading reading) {
        return reading.present().stream().map(Gpu::uuid).collect(Collectors.toUnmodifiableSet());
    }

    private void idle() {
        if (faults.unmonitored(Set.of())) {
            node.changed();
        }
        pause(WAIT);
        readIfDue();
    }

    /** Handles events for as long as they are wanted. */
    private void follow() {
        Subscription events = firstOrNext();
        try {
            while (!isClosing() && node.wantsEvents()) {
                boolean isRead = readIfDue();
                if (!isUpToDate(events) || (isRead && !events.unmonitored().isEmpty())) {
                    events = renewed(events);
                }
                next(events).ifPresent(this::handle);
                wait = WAIT;
                isFailing = false;
            }
        } finally {
            events.close();
        }
    }

    private boolean isUpToDate(Subscription events) {
        return events.isCurrent() && present(node.last()).equals(events.gpus());
    }

    /** The new subscription comes first: no event is lost in between. */
    private Subscription renewed(Subscription events) {
        Subscription next = subscribe();
        try {
            Optional<Event> rest = events.await(Duration.ZERO);
            while (rest.isPresent()) {
                handle(rest.get());
                rest = events.await(Duration.ZERO);
            }
        } catch (NvmlException e) {
            LOG.atDebug().setCause(e).log("The earlier events of the GPUs can't be read any more");
        }
        events.close();
        return next;
    }

    private Optional<Event> next(Subscription events) {
        if (events.gpus().isEmpty()) {
            pause(WAIT);
            return Optional.empty();
        }
        return events.await(WAIT);
    }

    private boolean readIfDue() {
        boolean isOther = !installed.equals(nvml.fingerprint());
        Duration until = node.isUnreadable() && RETRY.compareTo(interval) < 0 ? RETRY : interval;
        boolean isDue = isOther || !clock.instant().isBefore(lastRead.plus(until));
        if (isDue) {
            installed = nvml.fingerprint();
            List<String> failed = faults.failedBefore(lastRead);
            lastRead = clock.instant();
            failed.forEach(this::checkRecovery);
            node.resume();
            node.beforeReading();
            settled = settled || node.settled();
            node.changed();
        }
        return isDue;
    }

    /** A taint stays for as long as nothing says that the GPU works again. */
    private void checkRecovery(String gpu) {
        Optional<Boolean> needed;
        try {
            needed = nvml.needsRecovery(gpu);
        } catch (NvmlException e) { // it is lost, too, or was removed
            LOG.atDebug().setCause(e).addKeyValue("gpu", gpu).log("Recovery action can't be read");
            return;
        }
        if (needed.isEmpty()) {
            faults.forgetHarmless(gpu);
        } else if (needed.get()) {
            faults.escalate(gpu, severity::isIgnored);
        } else {
            faults.recovered(gpu);
            LOG.atInfo().addKeyValue("gpu", gpu).log("GPU recovered");
        }
    }

    private void handle(Event event) {
        if (event instanceof Event.Xid error) {
            Placement where = error.concernsAll() ? null : place(error).orElse(null);
            boolean harmless = severity.isHarmless(error.gpu(), error.xid());
            long now = clock.instant().toEpochMilli();
            faults.failed(error.gpu(), new XidError(error.xid(), where, now, harmless));
            LOG.atWarn()
                    .addKeyValue("gpu", error.gpu())
                    .addKeyValue("xid", error.xid())
                    .addKeyValue("instance", error.gpuInstance())
                    .log(
                            harmless
                                    ? "GPU reported an error after which it keeps working"
                                    : "GPU reported an error; its devices are tainted");
        }
        node.changed();
    }

    /** Returns the memory slices; without, the error counts as one of the whole GPU. */
    private Optional<Placement> place(Event.Xid error) {
        try {
            return nvml.instances(error.gpu()).stream()
                    .filter(instance -> instance.id() == error.gpuInstance())
                    .map(instance -> instance.placement())
                    .findFirst();
        } catch (NvmlException e) {
            return Optional.empty();
        }
    }

    private boolean isClosing() {
        return closing.getCount() == 0;
    }

    private void pause(Duration time) {
        try {
            closing.await(time.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            closing.countDown(); // an interrupt is a request to end
        }
    }

    /** Ends the thread and waits for it: NVML is closed next. */
    @Override
    public void close() {
        closing.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
