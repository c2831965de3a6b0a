// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import io.dra4j.conformance.context.Calls;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Place;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/** A driver of the play, started and killed as often as the play wants; its output is kept. */
final class DriverProcess implements AutoCloseable {

    private static final int TAIL = 15;
    private static final Duration SOON = Duration.ofMillis(500);

    private final DriverAdapter adapter;
    private final Place place;
    private volatile Instance instance;
    private volatile int starts;
    private boolean closed; // guarded by this

    DriverProcess(DriverAdapter adapter, Place place) {
        this.adapter = adapter;
        this.place = place;
        instance = launch();
    }

    private Instance launch() {
        try {
            starts++;
            return adapter.start(place, Map.of());
        } catch (DriverUnusable e) {
            throw new StepFailed("the command of " + name() + " cannot be run: " + e.getMessage());
        }
    }

    synchronized void restart() {
        StepFailed.unless(!closed, "the play was ended");
        instance = launch();
    }

    int starts() {
        return starts;
    }

    String name() {
        return place.driver();
    }

    Path log() {
        return place.log();
    }

    long pid() {
        return instance.pid().orElseThrow();
    }

    /** Waits for what the driver should do; StepFailed if the driver ends, or with the message of the wait. */
    <T> T await(Supplier<T> waiting) {
        CompletableFuture<T> result = Calls.async(waiting);
        CompletableFuture<?> end = handle().<CompletableFuture<?>>map(ProcessHandle::onExit)
                .orElseGet(() -> CompletableFuture.completedFuture(null));
        CompletableFuture.anyOf(result.handle((value, thrown) -> true), end).join();
        if (!result.isDone()) {
            throw ended();
        }
        try {
            return result.join();
        } catch (CompletionException e) {
            // a call that fails because the driver dies may fail shortly before it is dead
            throw instance.awaitExit(SOON).isPresent()
                    ? ended()
                    : new StepFailed(e.getCause().getMessage());
        }
    }

    private Optional<ProcessHandle> handle() {
        return ProcessHandle.of(pid());
    }

    private StepFailed ended() {
        int status = instance.awaitExit(SOON).orElseThrow();
        return new StepFailed(name() + " has ended unexpectedly, with status " + status);
    }

    void kill() {
        requireAlive();
        instance.kill();
    }

    /** Ends the driver as the kubelet ends a pod, and returns its exit status. */
    int stop(Duration timeout) {
        requireAlive();
        instance.terminate();
        return instance.awaitExit(timeout)
                .orElseThrow(() ->
                        new StepFailed("%s still runs %d s after SIGTERM".formatted(name(), timeout.toSeconds())));
    }

    private void requireAlive() {
        if (!instance.isAlive()) {
            throw ended();
        }
    }

    /** The last lines of the driver's output, if any. */
    List<String> tail() {
        List<String> lines = place.logSince(0).lines().toList();
        return lines.subList(Math.max(0, lines.size() - TAIL), lines.size());
    }

    /** Kills the driver and every process that it has started. */
    @Override
    public synchronized void close() {
        closed = true;
        instance.end();
    }
}
