// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.samples;

import io.dra4j.simulation.schedule.Simulation;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;

/** Two threads that count, in ways that are right or wrong; each returns the count, which should be 2. */
public final class Counters {

    private int count;
    private final ReentrantLock lock = new ReentrantLock();
    private final Queue<String> messages = new ArrayDeque<>();

    /** A way of counting. */
    public static final class Unguarded implements IntSupplier {
        @Override
        public int getAsInt() {
            return new Counters().twice(Counters::add);
        }
    }

    /** With a method that is synchronized. */
    public static final class Guarded implements IntSupplier {
        @Override
        public int getAsInt() {
            return new Counters().twice(Counters::addGuarded);
        }
    }

    /** With a lock. */
    public static final class Locked implements IntSupplier {
        @Override
        public int getAsInt() {
            return new Counters().twice(Counters::addLocked);
        }
    }

    /** With two monitors, in either order: a deadlock. */
    public static final class Crossed implements IntSupplier {
        @Override
        public int getAsInt() {
            Counters counters = new Counters();
            return counters.both(
                    () -> counters.addIn(counters.lock, counters.messages),
                    () -> counters.addIn(counters.messages, counters.lock));
        }
    }

    /** One waits for the other's message. */
    public static final class Waiting implements IntSupplier {
        @Override
        public int getAsInt() {
            Counters counters = new Counters();
            return counters.both(counters::receive, counters::send);
        }
    }

    private interface Way {
        void add(Counters counters);
    }

    private int twice(Way way) {
        return both(() -> way.add(this), () -> way.add(this));
    }

    private int both(Runnable one, Runnable other) {
        CompletableFuture<?> first = CompletableFuture.runAsync(one, task -> new Thread(task, "one").start());
        CompletableFuture<?> second = CompletableFuture.runAsync(other, task -> new Thread(task, "two").start());
        first.join();
        second.join();
        return count;
    }

    private void add() {
        int before = count;
        Simulation.step("between");
        count = before + 1;
    }

    private synchronized void addGuarded() {
        add();
    }

    private void addLocked() {
        lock.lock();
        try {
            add();
        } finally {
            lock.unlock();
        }
    }

    private void addIn(Object outer, Object inner) {
        synchronized (outer) {
            synchronized (inner) {
                count++;
            }
        }
    }

    private synchronized void send() {
        messages.add("message");
        count++;
        notifyAll();
    }

    private synchronized void receive() {
        while (messages.isEmpty()) {
            try {
                wait();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        count++;
    }
}
