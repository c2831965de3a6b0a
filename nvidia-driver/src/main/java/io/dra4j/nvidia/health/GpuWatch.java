// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.api.device.Taint.Effect;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.InstancePlacement;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlEvents;
import io.dra4j.nvidia.nvml.NvmlEvents.Event;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.nvml.Reading;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
 * Waits for events of the GPUs on its own thread, and requests new readings. It reads at intervals, when the installed
 * driver changes, and soon after a failure, and keeps an NVML session open only while the node wants events.
 */
public final class GpuWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GpuWatch.class);

    /** The timeout of one wait for NVML, and thus the longest delay at shutdown. */
    private static final Duration WAIT = Duration.ofMillis(250);

    /** The longest time between two attempts after a failure. */
    private static final Duration RETRY = Duration.ofSeconds(5);

    /** The interval between checks whether failed GPUs work again. */
    private static final Duration CHECK = Duration.ofSeconds(4);

    /** The shortest time between two changes of devices. */
    private static final Duration PACE = Duration.ofSeconds(1);

    /** The maximum number of events that are handled together. */
    private static final int MOST_EVENTS = 100;

    private final Nvml nvml;
    private final Node node;
    private final DeviceFaults faults;
    private final XidEffects effects;
    private final RecoveryCheck recovery;
    private final ThresholdCheck thresholds;
    private final Duration measuring;
    private final ErrorLog log = new ErrorLog();
    private final ChangePace pace;
    private final Duration interval;
    private final Duration checkInterval;
    private final InstantSource clock;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "gpu-watch");
    private Instant lastRead;
    private Instant lastCheck;
    private Instant lastMeasured = Instant.EPOCH;
    private String installed;
    private @Nullable NvmlEvents first; // handed over to the thread when it starts
    private boolean settled;
    private Duration wait = WAIT; // of the thread, after the next failure
    private boolean isFailing;

    /** The node whose GPUs are watched. */
    public interface Node {

        Reading last();

        /** Returns whether the last attempt to read failed. */
        boolean isUnreadable();

        /** Returns whether the GPUs must not be touched. */
        boolean isSuspended();

        /** Returns whether events are worth an open session now. */
        boolean wantsEvents();

        /** Requests a new reading; returns immediately. */
        void changed();

        /** Runs at the start, and at each interval before the reading. */
        void resume();

        /** Called at each interval, before the reading. */
        void beforeReading();

        /**
         * Called an interval after the start: by then, the devices of claims are known.
         *
         * @return whether it need not be called again
         */
        boolean settled();
    }

    public GpuWatch(Nvml nvml, Node node, DeviceFaults faults, HealthPolicy policy, InstantSource clock) {
        this.nvml = nvml;
        this.node = node;
        this.faults = faults;
        this.effects = policy.effects();
        this.interval = policy.rescanInterval();
        this.recovery = new RecoveryCheck(nvml, faults, effects, interval);
        this.thresholds = new ThresholdCheck(nvml, faults, policy.thresholds());
        this.measuring = policy.thresholds().interval();
        this.pace = new ChangePace(node::changed, shorter(PACE, interval), clock);
        this.checkInterval = shorter(CHECK, interval);
        this.clock = clock;
        this.lastRead = clock.instant();
        this.lastCheck = lastRead;
        this.installed = nvml.fingerprint();
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
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
        thread.setUncaughtExceptionHandler((ended, e) -> LOG.atError()
                .setCause(e)
                .log("Unexpected error ended the watch of the GPUs: failed GPUs are no longer tainted"));
        thread.start();
    }

    private NvmlEvents subscribe() {
        NvmlEvents events = nvml.subscribe(present(node.last()));
        if (faults.unmonitored(events.unmonitored())) {
            if (!events.unmonitored().isEmpty()) {
                LOG.atWarn()
                        .addKeyValue("gpus", events.unmonitored())
                        .log("GPUs report no errors now; only their loss is detected");
            }
            pace.changed();
        }
        return events;
    }

    private NvmlEvents firstOrNext() {
        NvmlEvents opened = first;
        first = null;
        return opened == null ? subscribe() : opened;
    }

    private void run() {
        Runnable round = this::begin;
        while (!isClosing()) {
            try {
                round.run();
                round = this::watch;
            } catch (RuntimeException e) { // of NVML, or of the node: a failed round must not end the watch
                failed(e);
                pause(wait);
                wait = wait.compareTo(RETRY) < 0 ? wait.multipliedBy(2) : RETRY;
                round = this::retry;
            }
        }
    }

    private void begin() {
        node.resume();
        watch();
    }

    /** Reads first, because NVML may fail again. */
    private void retry() {
        if (!node.isSuspended()) {
            readIfDue();
        }
        watch();
    }

    private void watch() {
        if (node.isSuspended()) {
            pause(WAIT);
        } else if (first != null || node.wantsEvents()) {
            follow();
        } else {
            idle();
        }
    }

    private void failed(RuntimeException e) {
        if (e instanceof NvmlException nvmls && nvmls.reason() == Reason.GIVEN_BACK) {
            return; // on request
        }
        LOG.atLevel(isFailing ? Level.DEBUG : Level.WARN).setCause(e).log("Can't watch the GPUs now; trying again");
        isFailing = true;
        pace.changed();
    }

    private static Set<String> present(Reading reading) {
        return reading.present().stream().map(Gpu::uuid).collect(Collectors.toUnmodifiableSet());
    }

    private void idle() {
        if (faults.unmonitored(Set.of())) {
            pace.changed();
        }
        pause(WAIT);
        if (readIfDue()) {
            wait = WAIT;
            isFailing = false;
        }
    }

    private void follow() {
        NvmlEvents events = firstOrNext();
        try {
            while (!isClosing() && !node.isSuspended() && node.wantsEvents()) {
                boolean isRead = readIfDue();
                if (!isUpToDate(events) || (isRead && !events.unmonitored().isEmpty())) {
                    events = renewed(events);
                }
                handleNext(events);
                wait = WAIT;
                isFailing = false;
            }
        } finally {
            events.close();
        }
    }

    private boolean isUpToDate(NvmlEvents events) {
        return events.isCurrent() && present(node.last()).equals(events.gpus());
    }

    /** Subscribes again before the old subscription ends, so that no event is lost in between. */
    private NvmlEvents renewed(NvmlEvents events) {
        NvmlEvents next = subscribe();
        try {
            handleWaiting(events, Duration.ZERO);
        } catch (NvmlException e) {
            LOG.atDebug().setCause(e).log("The earlier events of the GPUs can no longer be read");
        }
        events.close();
        return next;
    }

    private void handleNext(NvmlEvents events) {
        if (events.gpus().isEmpty()) {
            pause(WAIT);
        } else {
            handleWaiting(events, WAIT);
        }
    }

    /** Handles the pending events, equal ones only once: there may be thousands. */
    private void handleWaiting(NvmlEvents events, Duration timeout) {
        Map<Event, Long> found = new LinkedHashMap<>(); // with their number
        try {
            Optional<Event> next = events.await(timeout);
            for (int all = 1; next.isPresent(); all++) {
                Long before = found.remove(next.get()); // ordered by the latest occurrence
                found.put(next.get(), before == null ? 1 : before + 1);
                next = all < MOST_EVENTS ? events.await(Duration.ZERO) : Optional.empty();
            }
        } finally {
            handle(found);
        }
    }

    private boolean readIfDue() {
        boolean isOther = !installed.equals(nvml.fingerprint());
        Duration until = node.isUnreadable() ? shorter(RETRY, interval) : interval;
        boolean isDue = isOther || isOver(lastRead, until);
        if (isDue) {
            installed = nvml.fingerprint();
            lastRead = clock.instant();
            node.resume();
            node.beforeReading();
            settled = settled || node.settled();
            pace.changed();
        }
        checkIfDue();
        return isDue;
    }

    private boolean isOver(Instant since, Duration time) {
        Instant now = clock.instant();
        return !now.isBefore(since.plus(time)) || now.isBefore(since); // the clock was set back
    }

    private void checkIfDue() {
        if (isOver(lastCheck, checkInterval)) {
            lastCheck = clock.instant();
            log.endPeriods(lastCheck);
            if (recovery.check(lastCheck)) {
                pace.changed();
            }
        }
        if (isOver(lastMeasured, measuring)) {
            lastMeasured = clock.instant();
            measure();
        }
        pace.passOn();
    }

    private void measure() {
        try {
            if (thresholds.check(present(node.last()))) {
                pace.changed();
            }
        } catch (NvmlException e) { // each check of a GPU reports its own failure
            LOG.atDebug().setCause(e).log("GPUs can't be measured");
        }
    }

    private void handle(Map<Event, Long> events) {
        Severity severity = new Severity(nvml, effects);
        boolean changed = false;
        for (Map.Entry<Event, Long> entry : events.entrySet()) {
            if (entry.getKey() instanceof Event.Xid event) {
                Instant now = clock.instant();
                XidError error = severity.of(event, now);
                changed |= faults.failed(event.gpu(), error);
                faults.reported(event.gpu(), entry.getValue());
                log.log(event, error, entry.getValue(), now);
            } else {
                changed = true;
            }
        }
        if (changed) {
            pace.changed();
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

    /** Ends the thread and waits for it, before NVML is closed. */
    @Override
    public void close() {
        closing.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Reports that devices have changed: immediately the first time, then at most once per interval, so that many
     * errors cause few writes to the cluster. Used by one thread.
     */
    static final class ChangePace {

        private final Runnable changed;
        private final Duration interval;
        private final InstantSource clock;
        private Instant last = Instant.EPOCH;
        private boolean pending;

        ChangePace(Runnable changed, Duration interval, InstantSource clock) {
            this.changed = changed;
            this.interval = interval;
            this.clock = clock;
        }

        void changed() {
            pending = true;
            passOn();
        }

        void passOn() {
            Instant now = clock.instant();
            // a clock that was set back must not cause longer delays
            boolean mustWait = now.isBefore(last.plus(interval)) && !now.isBefore(last);
            if (pending && !mustWait) {
                pending = false;
                last = now;
                changed.run();
            }
        }
    }

    /** Decides the effect of errors that GPUs report together; asks NVML once about each GPU. */
    private static final class Severity {

        private static final Logger LOG = LoggerFactory.getLogger(Severity.class);

        private final Nvml nvml;
        private final XidEffects effects;
        private final Map<String, Optional<Boolean>> needs = new HashMap<>(); // by GPU
        private final Map<String, List<GpuInstance>> instances = new HashMap<>(); // by GPU

        Severity(Nvml nvml, XidEffects effects) {
            this.nvml = nvml;
            this.effects = effects;
        }

        XidError of(Event.Xid event, Instant now) {
            Optional<Boolean> needsRecovery = needs.computeIfAbsent(event.gpu(), this::needsRecovery);
            Effect effect = effects.of(event.xid(), needsRecovery);
            return new XidError(
                    event.xid(),
                    event.concernsAll() ? null : place(event),
                    now.toEpochMilli(),
                    effect,
                    needsRecovery.orElse(effect != Effect.NONE));
        }

        /** Returns empty if it can't be read now, or the driver is older than R565 and does not report it. */
        private Optional<Boolean> needsRecovery(String gpu) {
            try {
                return nvml.needsRecovery(gpu);
            } catch (NvmlException e) { // it is lost as well, or was removed
                LOG.atDebug().setCause(e).addKeyValue("gpu", gpu).log("Recovery action can't be read");
                return Optional.empty();
            }
        }

        /** Returns the memory slices; without them, the error counts for the whole GPU. */
        private @Nullable InstancePlacement place(Event.Xid event) {
            return instances.computeIfAbsent(event.gpu(), this::instances).stream()
                    .filter(instance -> instance.id() == event.gpuInstance())
                    .map(GpuInstance::placement)
                    .findFirst()
                    .orElse(null);
        }

        private List<GpuInstance> instances(String gpu) {
            try {
                return nvml.instances(gpu);
            } catch (NvmlException e) {
                return List.of();
            }
        }
    }
}
