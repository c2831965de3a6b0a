// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlEvents;
import io.dra4j.nvidia.nvml.NvmlEvents.Event;
import io.dra4j.nvidia.nvml.NvmlException;
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

/**
 * Waits for events of the GPUs, on a thread of its own, and reads the GPUs again at intervals, also
 * without events.
 */
public final class GpuWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GpuWatch.class);

    /** The timeout of one wait for NVML, and so the longest time until the end. */
    private static final Duration WAIT = Duration.ofMillis(250);

    private final Nvml nvml;
    private final Node node;
    private final DeviceFaults faults;
    private final Duration interval;
    private final InstantSource clock;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "gpu-watch");
    private Instant lastRead;
    private @Nullable NvmlEvents first; // handed over to the thread when it starts
    private Set<String> unmonitored = Set.of();
    private boolean settled;

    /** The node whose GPUs are watched. */
    public interface Node {

        /** Returns the last reading. */
        Reading last();

        /** Requests a new reading; returns at once. */
        void changed();

        /** Called once, an interval after the start: by then the devices of claims are known. */
        void settled();
    }

    /**
     * Creates a watch that is not started yet.
     *
     * @param interval the interval between readings without an event
     */
    public GpuWatch(
            Nvml nvml, Node node, DeviceFaults faults, Duration interval, InstantSource clock) {
        this.nvml = nvml;
        this.node = node;
        this.faults = faults;
        this.interval = interval;
        this.clock = clock;
        this.lastRead = clock.instant();
    }

    /** Starts: events after the return are noticed. */
    public void start() {
        try {
            first = subscribe();
        } catch (NvmlException e) {
            LOG.atDebug().setCause(e).log("Can't subscribe to events of the GPUs yet");
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

    private NvmlEvents subscribe() {
        NvmlEvents events = nvml.subscribe(present(node.last()));
        if (!unmonitored.containsAll(events.unmonitored())) {
            LOG.atWarn()
                    .addKeyValue("gpus", events.unmonitored())
                    .log("GPUs report no errors now; only their loss is detected");
        }
        unmonitored = events.unmonitored();
        return events;
    }

    private NvmlEvents firstOrNext() {
        NvmlEvents opened = first;
        first = null;
        return opened == null ? subscribe() : opened;
    }

    private void run() {
        Duration wait = WAIT;
        while (!isClosing()) {
            try (NvmlEvents events = firstOrNext()) {
                follow(events);
                wait = WAIT;
            } catch (NvmlException e) {
                LOG.atWarn().setCause(e).log("Can't subscribe to events of the GPUs now");
                node.changed();
                pause(wait);
                wait = wait.compareTo(interval) < 0 ? wait.multipliedBy(2) : interval;
                readIfDue();
            }
        }
    }

    private static Set<String> present(Reading reading) {
        return reading.present().stream().map(Gpu::uuid).collect(Collectors.toUnmodifiableSet());
    }

    /** Handles events until the set of GPUs changes. */
    private void follow(NvmlEvents events) {
        boolean isRead = false;
        while (!isClosing() && !isRead && present(node.last()).equals(events.gpus())) {
            if (events.gpus().isEmpty()) {
                pause(WAIT);
            } else {
                events.await(WAIT).ifPresent(this::handle);
            }
            isRead = readIfDue() && !events.unmonitored().isEmpty();
        }
    }

    private boolean readIfDue() {
        boolean isDue = !clock.instant().isBefore(lastRead.plus(interval));
        if (isDue) {
            List<String> failed = faults.failedBefore(lastRead);
            lastRead = clock.instant();
            failed.forEach(this::checkRecovery);
            if (!settled) {
                settled = true;
                node.settled();
            }
            node.changed();
        }
        return isDue;
    }

    private void checkRecovery(String gpu) {
        try {
            if (nvml.needsRecovery(gpu).map(needs -> !needs).orElse(false)) {
                faults.recovered(gpu);
                LOG.atInfo().addKeyValue("gpu", gpu).log("GPU recovered");
            }
        } catch (NvmlException e) { // it is lost, too, or was removed
            LOG.atDebug().setCause(e).addKeyValue("gpu", gpu).log("Recovery action can't be read");
        }
    }

    private void handle(Event event) {
        if (event instanceof Event.Xid error) {
            Placement where = error.concernsAll() ? null : place(error).orElse(null);
            boolean matters = faults.failed(error.gpu(), error.xid(), where, clock.instant());
            LOG.atWarn()
                    .addKeyValue("gpu", error.gpu())
                    .addKeyValue("xid", error.xid())
                    .addKeyValue("instance", error.gpuInstance())
                    .log(
                            matters
                                    ? "GPU reported an error; its devices are tainted"
                                    : "GPU reported an error of an application, which is ignored");
            if (!matters) {
                return;
            }
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
