// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import io.dra4j.testkit.driver.DriverTrouble;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.driver.ProcessDriver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A driver as a process of its own, started and killed as often as the play wants.
 *
 * <p>What it must know is in its environment, under the names that DRA drivers share ({@code
 * NODE_NAME}, {@code KUBECONFIG} and so on), and in its command line wherever that has the name in
 * braces: {@code --kubeconfig={KUBECONFIG}}. Its output is kept in a file.
 */
final class DriverProcess implements AutoCloseable {

    private static final int TAIL = 15;

    private final String name;
    private final ProcessDriver driver;
    private final Place place;
    private volatile Process process;
    private boolean closed; // guarded by this

    private DriverProcess(String name, ProcessDriver driver, Place place) {
        this.name = name;
        this.driver = driver;
        this.place = place;
        process = launch();
    }

    /** Starts a driver at its place. */
    static DriverProcess start(ProcessDriver driver, Place place) {
        return new DriverProcess(place.driver(), driver, place);
    }

    private Process launch() {
        try {
            return driver.launch(place, Map.of());
        } catch (DriverTrouble e) {
            throw new StepFailed("the command of " + name + " cannot be run: " + e.getMessage());
        }
    }

    synchronized void restart() {
        StepFailed.unless(!closed, "the play was ended");
        process = launch();
    }

    String name() {
        return name;
    }

    /** The file that its output goes to. */
    Path log() {
        return place.log();
    }

    long pid() {
        return process.pid();
    }

    /**
     * Waits for something that the driver is to do, and gives up at once if the driver ends.
     *
     * @throws StepFailed if the driver ends, or with the message of what the wait throws
     */
    <T> T await(Supplier<T> waiting) {
        CompletableFuture<T> result = CompletableFuture.supplyAsync(waiting, DriverProcess::spawn);
        CompletableFuture.anyOf(result.handle((value, thrown) -> true), process.onExit()).join();
        if (!result.isDone()) {
            throw ended();
        }
        try {
            return result.join();
        } catch (CompletionException e) {
            throw endsSoon() ? ended() : new StepFailed(e.getCause().getMessage());
        }
    }

    /** Waits like {@link #await(Supplier)} for something without a result. */
    void awaitDone(Runnable waiting) {
        await(
                () -> {
                    waiting.run();
                    return true;
                });
    }

    private static void spawn(Runnable task) {
        Thread thread = new Thread(task, "dra4j-play-wait");
        thread.setDaemon(true);
        thread.start();
    }

    /** A call that fails because the driver dies may fail a little before the driver is dead. */
    private boolean endsSoon() {
        try {
            return process.waitFor(500, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private StepFailed ended() {
        return new StepFailed(name + " has ended by itself, with status " + process.exitValue());
    }

    /** Ends the driver as a crash does. */
    void kill() {
        requireAlive();
        process.destroyForcibly().onExit().join();
    }

    /** Ends the driver as the kubelet ends a pod, and returns its exit status. */
    int stop(Duration patience) {
        requireAlive();
        process.destroy();
        Process ended =
                process.onExit()
                        .completeOnTimeout(null, patience.toMillis(), TimeUnit.MILLISECONDS)
                        .join();
        StepFailed.unless(
                ended != null, name + " still runs " + patience.toSeconds() + " s after SIGTERM");
        return process.exitValue();
    }

    private void requireAlive() {
        if (!process.isAlive()) {
            throw ended();
        }
    }

    /** The last lines of the driver's output; none if there is no output. */
    List<String> tail() {
        try {
            List<String> lines = Files.readAllLines(place.log());
            return lines.subList(Math.max(0, lines.size() - TAIL), lines.size());
        } catch (IOException e) {
            return List.of("(cannot be read: " + e + ")");
        }
    }

    /** Ends the driver and whatever it has started, at once. */
    @Override
    public synchronized void close() {
        closed = true;
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
    }
}
