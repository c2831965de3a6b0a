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
 * Waits for what happens to the GPUs, on a thread of its own, and looks again from time to time.
 *
 * <p>Without events, for a driver that has none or a GPU that is lost, it still looks.
 */
public final class GpuWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GpuWatch.class);

    /** So long NVML is waited for at a time: so long it may take to end. */
    private static final Duration WAIT = Duration.ofMillis(250);

    private final Nvml nvml;
    private final Node node;
    private final DeviceFaults ailments;
    private final Duration interval;
    private final InstantSource clock;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "gpu-watch");
    private Instant looked;
    private @Nullable NvmlEvents first; // handed over to the thread when it starts
    private Set<String> deaf = Set.of();
    private boolean settled;

    /** The node whose GPUs are watched. */
    public interface Node {

        /** What was last read of it. */
        Reading last();

        /** Asks for it to be read again; returns at once. */
        void changed();

        /** Comes once, an interval after the start: by then it is known what claims hold. */
        void settled();
    }

    /**
     * Makes a watch that is yet to be started.
     *
     * @param interval how often the node is read if nothing happens
     */
    public GpuWatch(
            Nvml nvml, Node node, DeviceFaults ailments, Duration interval, InstantSource clock) {
        this.nvml = nvml;
        this.node = node;
        this.ailments = ailments;
        this.interval = interval;
        this.clock = clock;
        this.looked = clock.instant();
    }

    /** Begins to wait: whatever happens once this has returned is heard of. */
    public void start() {
        try {
            first = listen();
        } catch (NvmlException e) {
            LOG.atDebug().setCause(e).log("The GPUs can't be listened to at once");
        }
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler(
                (ended, e) ->
                        LOG.atError()
                                .setCause(e)
                                .log("A bug ended the watch: GPUs that fail are not tainted now"));
        thread.start();
    }

    private NvmlEvents listen() {
        NvmlEvents events = nvml.listen(present(node.last()));
        if (!deaf.containsAll(events.deaf())) {
            LOG.atWarn()
                    .addKeyValue("gpus", events.deaf())
                    .log("GPUs tell of no errors now; only their loss would be seen");
        }
        deaf = events.deaf();
        return events;
    }

    private NvmlEvents firstOrNext() {
        NvmlEvents opened = first;
        first = null;
        return opened == null ? listen() : opened;
    }

    private void run() {
        Duration wait = WAIT;
        while (!isClosing()) {
            try (NvmlEvents events = firstOrNext()) {
                follow(events);
                wait = WAIT;
            } catch (NvmlException e) {
                LOG.atWarn().setCause(e).log("The GPUs can't be listened to now");
                node.changed();
                pause(wait);
                wait = wait.compareTo(interval) < 0 ? wait.multipliedBy(2) : interval;
                lookIfDue();
            }
        }
    }

    private static Set<String> present(Reading reading) {
        return reading.present().stream().map(Gpu::uuid).collect(Collectors.toUnmodifiableSet());
    }

    /** Until there are other GPUs to listen to. */
    private void follow(NvmlEvents events) {
        boolean again = false;
        while (!isClosing() && !again && present(node.last()).equals(events.gpus())) {
            if (events.gpus().isEmpty()) {
                pause(WAIT);
            } else {
                events.await(WAIT).ifPresent(this::happened);
            }
            again = lookIfDue() && !events.deaf().isEmpty();
        }
    }

    private boolean lookIfDue() {
        boolean isDue = !clock.instant().isBefore(looked.plus(interval));
        if (isDue) {
            List<String> failed = ailments.failedBefore(looked);
            looked = clock.instant();
            failed.forEach(this::askWhetherItWorks);
            if (!settled) {
                settled = true;
                node.settled();
            }
            node.changed();
        }
        return isDue;
    }

    private void askWhetherItWorks(String gpu) {
        try {
            if (nvml.needsRecovery(gpu).map(needs -> !needs).orElse(false)) {
                ailments.recovered(gpu);
                LOG.atInfo().addKeyValue("gpu", gpu).log("The GPU says that it works again");
            }
        } catch (NvmlException e) { // it is lost, too, or was pulled out
            LOG.atDebug().setCause(e).addKeyValue("gpu", gpu).log("The GPU says nothing");
        }
    }

    private void happened(Event event) {
        if (event instanceof Event.Xid error) {
            Placement where = error.concernsAll() ? null : place(error).orElse(null);
            boolean matters = ailments.failed(error.gpu(), error.xid(), where, clock.instant());
            LOG.atWarn()
                    .addKeyValue("gpu", error.gpu())
                    .addKeyValue("xid", error.xid())
                    .addKeyValue("instance", error.gpuInstance())
                    .log(
                            matters
                                    ? "The GPU told of an error; its devices are tainted"
                                    : "The GPU told of an error that is none of its own");
            if (!matters) {
                return;
            }
        }
        node.changed();
    }

    /** Where a GPU instance is; if nobody knows any more, the error is one of the whole GPU. */
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
            closing.countDown(); // nobody interrupts it but to end it
        }
    }

    /** Ends the thread, and waits for it: NVML is closed next. */
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
