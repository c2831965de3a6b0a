// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A simulated thread. A real one runs its code, while all others wait. */
final class Strand {

    static final long NEVER = Long.MAX_VALUE;
    private static final BooleanSupplier ALWAYS = () -> true;

    final Simulation simulation;
    final Process process;
    final String name;
    final @Nullable Object thread; // the Thread object that the code has for this one
    boolean isInterrupted;
    boolean hasPermit; // of LockSupport

    private BooleanSupplier ready = ALWAYS;
    private long until = NEVER;
    private volatile boolean hasBaton;
    private volatile @Nullable Thread carrier; // set once it has begun

    Strand(Simulation simulation, Process process, String name, @Nullable Object thread) {
        this.simulation = simulation;
        this.process = process;
        this.name = name;
        this.thread = thread;
    }

    /** Gives it a real thread, which waits for the baton. */
    void begin(Runnable code) {
        Carriers.start(() -> {
            carrier = Thread.currentThread();
            await();
            code.run();
        });
    }

    void waitFor(BooleanSupplier condition, long nanos) {
        ready = condition;
        until = nanos;
    }

    void waitForNothing() {
        ready = ALWAYS;
        until = NEVER;
    }

    long until() {
        return until;
    }

    boolean isReady(long now) {
        return process.isDead() || simulation.isOver() || until <= now || ready.getAsBoolean();
    }

    /** Lets it run; the caller must wait or end next. */
    void giveBaton() {
        hasBaton = true;
        LockSupport.unpark(carrier);
    }

    void await() {
        while (!hasBaton) {
            LockSupport.park(this);
            isInterrupted |= Thread.interrupted(); // set by a class of the JDK
        }
        hasBaton = false;
    }

    @Override
    public String toString() {
        return process + "/" + name;
    }
}
