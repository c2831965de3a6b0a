// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import io.dra4j.runtime.internal.kubelet.KubeletPlugin;
import io.dra4j.runtime.internal.observe.HttpEndpoint.Probes;
import io.dra4j.runtime.internal.publish.SlicePublisher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * The conditions that a driver lacks to be ready, one line each.
 *
 * <p>It is ready when the kubelet has confirmed the registration and the cluster has all its pools, published by it, or
 * by another process of the driver that it could replace. A driver that offers no device because all are left out is not ready. Thread-safe,
 * and returns immediately, except {@link #awaitStart}.
 */
final class Readiness implements AutoCloseable {

    /** Kubelets register within a second or two, and slices take as long. */
    private static final Duration LONGEST = Duration.ofSeconds(10);

    /** The polling interval: neither the kubelet nor another process of the driver sends a notification. */
    private static final Duration LOOK = Duration.ofMillis(50);

    private final Duration longest;
    private volatile Supplier<List<String>> missing = () -> List.of("start: still starting");
    private volatile Supplier<List<String>> leftOut = List::of;
    private volatile boolean started;

    Readiness() {
        this(LONGEST);
    }

    Readiness(Duration longest) {
        this.longest = longest;
    }

    Probes probes(Liveness liveness) {
        return new Probes(liveness::restartReason, this::missing, this::leftOut, this::awaitStart);
    }

    List<String> missing() {
        return missing.get();
    }

    /** Returns the hardware that is left out, one line each; a driver may be ready despite that. */
    List<String> leftOut() {
        return leftOut.get();
    }

    /**
     * Waits a few seconds for the driver to be ready. A driver that is not ready by then continues: a restart would not
     * help it.
     *
     * @return whether it has started
     */
    boolean awaitStart() {
        long end = System.nanoTime() + longest.toNanos();
        while (!missing().isEmpty() && System.nanoTime() < end) {
            LockSupport.parkNanos(LOOK.toNanos());
        }
        return started;
    }

    void started(KubeletPlugin plugin, SlicePublisher publisher) {
        leftOut = publisher::leftOut;
        started(() -> missing(plugin, publisher));
    }

    void started(Supplier<List<String>> stillMissing) {
        missing = stillMissing;
        started = true;
    }

    private static List<String> missing(KubeletPlugin plugin, SlicePublisher publisher) {
        List<String> missing = new ArrayList<>();
        if (!plugin.isRegistered()) {
            missing.add("registration: the kubelet has not confirmed it");
        }
        missing.addAll(publisher.missing());
        return missing;
    }

    @Override
    public void close() {
        missing = () -> List.of("stop: stopping");
    }
}
