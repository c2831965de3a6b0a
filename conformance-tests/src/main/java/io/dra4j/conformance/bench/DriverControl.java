// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.bench;

import io.dra4j.conformance.driver.DriverAdapter;
import io.dra4j.conformance.driver.DriverTrouble;
import io.dra4j.conformance.driver.Instance;
import io.dra4j.conformance.kubelet.KubeletEvent;
import io.dra4j.conformance.kubelet.KubeletEvent.Kind;
import io.dra4j.conformance.kubelet.PluginInfo;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Start, stop and kill of the driver of a bench. */
public final class DriverControl implements AutoCloseable {

    private static final Duration LOOK = Duration.ofMillis(100);
    private static final int LOG_LIMIT = 20_000;

    private final Bench bench;
    private final DriverAdapter adapter;
    private final List<Instance> instances = new ArrayList<>();
    private @Nullable Instance current;

    DriverControl(Bench bench, DriverAdapter adapter) {
        this.bench = bench;
        this.adapter = adapter;
    }

    /** What kind of driver it is. */
    public DriverAdapter adapter() {
        return adapter;
    }

    /**
     * Starts the driver, and waits until the kubelet has registered it.
     *
     * @throws DriverTrouble if it ended or was not registered in time
     */
    public Instance start() {
        int before = bench.kubelet().events().size();
        Instance instance = launch(Map.of());
        current = instance;
        awaitRegistered(instance, before);
        return instance;
    }

    /** Starts one more instance, and does not wait. */
    public Instance launch(Map<String, String> environment) {
        bench.transcript().note("start the driver " + environment);
        Instance instance = adapter.start(bench.place(), environment);
        instances.add(instance);
        return instance;
    }

    /**
     * Waits until the kubelet has registered a driver since some number of its events.
     *
     * @throws DriverTrouble if the instance ended first, or the time is over
     */
    public void awaitRegistered(Instance instance, int before) {
        long end = System.nanoTime() + adapter.startTimeout().toNanos();
        while (!registeredAfter(before)) {
            if (!instance.isAlive()) {
                throw new DriverTrouble("The driver ended" + status(instance) + lastWords());
            }
            if (System.nanoTime() > end) {
                throw new DriverTrouble(
                        "The driver has not registered within "
                                + adapter.startTimeout().toSeconds()
                                + " s; the kubelet saw "
                                + events(before)
                                + lastWords());
            }
        }
        String name = bench.place().driver();
        if (bench.kubelet().plugin(name).isEmpty()) {
            throw new DriverTrouble(
                    "A driver of another name than " + name + " registered: " + events(before));
        }
    }

    private boolean registeredAfter(int before) {
        return registers(before, LOOK);
    }

    /** Whether the kubelet registers a driver, since some number of its events, in some time. */
    public boolean registers(int before, Duration timeout) {
        try {
            return bench.kubelet()
                    .awaitEvents(
                            events ->
                                    events.stream()
                                            .skip(before)
                                            .anyMatch(e -> e.kind() == Kind.REGISTERED),
                            timeout);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private String events(int before) {
        List<KubeletEvent> events = bench.kubelet().events();
        return events.size() <= before
                ? "no socket"
                : events.subList(before, events.size()).stream()
                        .map(e -> e.kind() + " " + e.detail())
                        .collect(Collectors.joining(", "));
    }

    private static String status(Instance instance) {
        OptionalInt status = instance.awaitExit(Duration.ZERO);
        return status.isPresent() ? " with exit status " + status.getAsInt() : "";
    }

    private String lastWords() {
        List<String> lines = log().lines().filter(line -> !line.isBlank()).toList();
        return lines.isEmpty() ? "" : "; its last line: " + lines.get(lines.size() - 1).strip();
    }

    /** The instance that was started last by {@link #start}. */
    public Instance current() {
        Instance instance = current;
        if (instance == null) {
            throw new IllegalStateException("the driver was not started");
        }
        return instance;
    }

    /** Takes an instance for the current one from now on. */
    public void use(Instance instance) {
        current = instance;
    }

    /** Who the driver said it is when it registered. */
    public PluginInfo info() {
        return bench.kubelet()
                .plugin(bench.place().driver())
                .orElseThrow(() -> new Violation("the driver is not registered any more"));
    }

    /** Whether the current instance runs and is registered. */
    public boolean isReady() {
        Instance instance = current;
        return instance != null
                && instance.isAlive()
                && bench.kubelet().plugin(bench.place().driver()).isPresent();
    }

    /** Whether the current instance runs, registered or not. */
    public boolean isAlive() {
        Instance instance = current;
        return instance != null && instance.isAlive();
    }

    /** Kills the current instance as a crash does. */
    public void kill() {
        bench.transcript().note("SIGKILL");
        current().kill();
    }

    /** Stops the current instance as its pod's end does, and returns the exit status. */
    public int terminate() {
        bench.transcript().note("SIGTERM");
        Instance instance = current();
        instance.terminate();
        OptionalInt status = instance.awaitExit(bench.patience().times(Duration.ofSeconds(30)));
        Violation.unless(status.isPresent(), "SIGTERM did not end the driver within %s", "30 s");
        return status.getAsInt();
    }

    /** Kills the current instance and starts another. */
    public Instance restartAfterKill() {
        kill();
        return restarted();
    }

    /** Stops the current instance and starts another. */
    public Instance restart() {
        terminate();
        return restarted();
    }

    /** Starts it again where it must be able to start: that it cannot is the driver's fault. */
    public Instance restarted() {
        try {
            return start();
        } catch (DriverTrouble e) {
            throw new Violation("the restart failed: " + e.getMessage());
        }
    }

    /** How the current instance is, in words. */
    public String fate() {
        Instance instance = current;
        return instance == null || instance.isAlive()
                ? "it is not registered"
                : "it ended" + status(instance) + lastWords();
    }

    /** What the driver wrote, the end of it. */
    public String log() {
        return logSince(0);
    }

    /** What the driver wrote from some length of its log on, the end of it. */
    String logSince(long length) {
        try (RandomAccessFile file = new RandomAccessFile(bench.place().log().toFile(), "r")) {
            long from = Math.max(length, file.length() - LOG_LIMIT);
            byte[] bytes = new byte[(int) Math.max(0, file.length() - from)];
            file.seek(from);
            file.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (FileNotFoundException e) {
            return "";
        } catch (IOException e) {
            return "no log: " + e;
        }
    }

    /** Ends what was started for this bench; a driver that somebody else runs goes on. */
    @Override
    public void close() {
        if (adapter.controlsProcess() || adapter.runsAnywhere()) {
            instances.stream().filter(Instance::isAlive).forEach(Instance::kill);
        }
    }
}
