// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;

/**
 * Methods that rewritten code calls instead of the JDK's, by the names in {@code replacements.txt}.
 *
 * <p>Outside of a simulation, while classes are initialized, these methods do not wait, and use the real time.
 */
public final class Hooks {

    private static final Clock CLOCK = new Clock() {
        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Instant instant() {
            return Hooks.now();
        }
    };

    private Hooks() {}

    public static void enter(Object object) {
        Strand strand = Simulation.strand();
        if (strand != null) {
            Simulation.monitors().enter(strand, object);
        }
    }

    public static void exit(Object object) {
        Strand strand = Simulation.strand();
        if (strand != null) {
            Simulation.monitors().exit(strand, object);
        }
    }

    public static void await(Object object) throws InterruptedException {
        await(object, 0);
    }

    public static void await(Object object, long millis) throws InterruptedException {
        long limit = millis == 0 ? Strand.NEVER : TimeUnit.MILLISECONDS.toNanos(millis);
        Simulation.monitors().await(strand(), object, limit);
    }

    public static void notifyOne(Object object) {
        Simulation.monitors().notifyOne(strand(), object);
    }

    public static void notifyAll(Object object) {
        Simulation.monitors().notifyAll(strand(), object);
    }

    static Strand strand() {
        Strand strand = Simulation.strand();
        if (strand == null) {
            throw new IllegalStateException("not a thread of a simulation");
        }
        return strand;
    }

    public static void start(Thread thread) {
        Simulation.start(Simulation.process(), thread.getName(), thread, thread::run);
    }

    public static void interrupt(Thread thread) {
        Strand self = strand();
        (thread == Thread.currentThread() ? self : self.simulation.strandOf(thread)).isInterrupted = true;
    }

    public static boolean isInterrupted(Thread thread) {
        Strand self = Simulation.strand();
        return self != null
                && (thread == Thread.currentThread() ? self : self.simulation.strandOf(thread)).isInterrupted;
    }

    public static boolean interrupted() {
        Strand strand = strand();
        boolean was = strand.isInterrupted;
        strand.isInterrupted = false;
        return was;
    }

    public static void sleep(long millis) throws InterruptedException {
        Strand strand = strand();
        if (Simulation.await(() -> strand.isInterrupted, TimeUnit.MILLISECONDS.toNanos(millis))) {
            strand.isInterrupted = false;
            throw new InterruptedException("sleep interrupted");
        }
    }

    public static void parkNanos(long nanos) {
        Strand strand = strand();
        Simulation.await(() -> strand.isInterrupted, nanos);
    }

    public static long nanoTime() {
        return Simulation.isRunning() ? Simulation.nanoTime() : System.nanoTime();
    }

    public static long currentTimeMillis() {
        return now().toEpochMilli();
    }

    public static Instant now() {
        return Simulation.isRunning() ? Simulation.clock() : Instant.now();
    }

    public static Clock clock() {
        return CLOCK;
    }

    public static InstantSource instants() {
        return CLOCK;
    }

    public static RandomGenerator random() {
        return () -> Simulation.random().nextLong();
    }

    public static UUID uuid() {
        return new UUID(Simulation.random().nextLong(), Simulation.random().nextLong());
    }

    public static <T> T get(Future<T> future) throws InterruptedException, ExecutionException {
        awaitDone(future, Strand.NEVER);
        return future.get();
    }

    public static <T> T get(Future<T> future, long time, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        if (!awaitDone(future, unit.toNanos(time))) {
            throw new TimeoutException();
        }
        return future.get();
    }

    private static boolean awaitDone(Future<?> future, long limit) throws InterruptedException {
        Strand strand = Simulation.strand();
        if (strand == null || future.isDone()) {
            return true;
        }
        if (strand.isInterrupted || !Simulation.await(() -> future.isDone() || strand.isInterrupted, limit)) {
            interruptedIf(strand);
            return false;
        }
        if (!future.isDone()) {
            interruptedIf(strand);
        }
        return true;
    }

    private static void interruptedIf(Strand strand) throws InterruptedException {
        if (strand.isInterrupted) {
            strand.isInterrupted = false;
            throw new InterruptedException();
        }
    }

    public static <T> T get(CompletableFuture<T> future) throws InterruptedException, ExecutionException {
        return get((Future<T>) future);
    }

    public static <T> T get(CompletableFuture<T> future, long time, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        return get((Future<T>) future, time, unit);
    }

    public static <T> T join(CompletableFuture<T> future) {
        if (Simulation.isRunning() && !future.isDone()) {
            Simulation.await(future::isDone);
        }
        return future.join();
    }

    public static <T> CompletableFuture<T> completeOnTimeout(
            CompletableFuture<T> future, T value, long time, TimeUnit unit) {
        Duration delay = Duration.ofNanos(unit.toNanos(time));
        Simulation.after(Simulation.process(), delay, "timeout", () -> future.complete(value));
        return future;
    }
}
