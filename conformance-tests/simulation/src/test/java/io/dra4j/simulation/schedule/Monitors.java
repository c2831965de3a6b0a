// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The monitors that are held, or waited for. */
final class Monitors {

    private final List<Monitor> used = new ArrayList<>();

    /** The monitor of an object, and its owner. */
    private static final class Monitor {
        final Object object;

        @Nullable
        Strand owner;

        int depth;
        final List<Waiting> waiting = new ArrayList<>();

        Monitor(Object object) {
            this.object = object;
        }
    }

    /** A thread that waits to be notified. */
    private static final class Waiting {
        boolean isNotified;
    }

    private @Nullable Monitor find(Object object) {
        for (Monitor monitor : used) {
            if (monitor.object == object) {
                return monitor;
            }
        }
        return null;
    }

    private Monitor of(Object object) {
        Monitor monitor = find(object);
        if (monitor == null) {
            monitor = new Monitor(object);
            used.add(monitor);
        }
        return monitor;
    }

    void enter(Strand strand, Object object) {
        Monitor monitor = find(object);
        if (monitor != null && monitor.owner == strand) {
            monitor.depth++;
            return;
        }
        Simulation.yieldNow();
        take(strand, object, 1);
    }

    private void take(Strand strand, Object object, int depth) {
        if (owner(object) != null) {
            Simulation.await(() -> owner(object) == null);
        }
        Monitor monitor = of(object);
        monitor.owner = strand;
        monitor.depth = depth;
    }

    private @Nullable Strand owner(Object object) {
        Monitor monitor = find(object);
        return monitor == null ? null : monitor.owner;
    }

    /** Never throws: it is called while a killed thread ends, which may not own the monitor that it waited for. */
    void exit(Strand strand, Object object) {
        Monitor monitor = find(object);
        if (monitor != null && monitor.owner == strand) {
            monitor.depth--;
            if (monitor.depth == 0) {
                release(monitor);
            }
        }
    }

    private void release(Monitor monitor) {
        monitor.owner = null;
        if (monitor.waiting.isEmpty()) {
            used.remove(monitor);
        }
    }

    void await(Strand strand, Object object, long limit) throws InterruptedException {
        Monitor monitor = held(strand, object);
        int depth = monitor.depth;
        Waiting waiting = new Waiting();
        monitor.waiting.add(waiting);
        release(monitor);
        boolean wasWoken;
        try {
            wasWoken = Simulation.await(() -> waiting.isNotified || strand.isInterrupted, limit);
        } finally {
            monitor.waiting.remove(waiting);
            if (monitor.owner == null && monitor.waiting.isEmpty()) {
                used.remove(monitor);
            }
        }
        take(strand, object, depth);
        if (wasWoken && !waiting.isNotified) {
            strand.isInterrupted = false;
            throw new InterruptedException();
        }
    }

    void notifyOne(Strand strand, Object object) {
        held(strand, object).waiting.stream()
                .filter(one -> !one.isNotified)
                .findFirst()
                .ifPresent(one -> one.isNotified = true);
    }

    void notifyAll(Strand strand, Object object) {
        held(strand, object).waiting.forEach(one -> one.isNotified = true);
    }

    private Monitor held(Strand strand, Object object) {
        Monitor monitor = find(object);
        if (monitor == null || monitor.owner != strand) {
            throw new IllegalMonitorStateException("current thread is not owner");
        }
        return monitor;
    }
}
