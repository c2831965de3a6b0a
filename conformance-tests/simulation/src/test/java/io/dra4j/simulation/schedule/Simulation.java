// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One run: its threads, its clock and its draws.
 *
 * <p>One of all threads has the baton and runs. Where it may pass the baton on ({@link #step}, or a wait), the seed
 * decides which thread is next. The clock advances a little with each step, and to the next timer when no thread can
 * run.
 */
public final class Simulation {

    private static final ThreadLocal<@Nullable Strand> CURRENT = new ThreadLocal<>();
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final int LONGEST_STEP_NANOS = 40_000;
    private static final int MOST_IN_A_ROW = 8; // steps of one thread, on average
    private static final Duration REAL_LIMIT = Duration.ofMinutes(10);

    private final SplittableRandom order; // of threads
    private final SplittableRandom draws; // of what they do
    private final Trace trace;
    private final Process world = new Process("world", "nothing");
    private final List<Strand> strands = new ArrayList<>();
    private final List<Strand> ready = new ArrayList<>();
    private final PriorityQueue<Timer> timers =
            new PriorityQueue<>(Comparator.<Timer>comparingLong(t -> t.at).thenComparingLong(t -> t.number));
    private final Monitors monitors = new Monitors();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final List<Runnable> last = new ArrayList<>();
    private long nanos;
    private Duration skew = Duration.ZERO; // of the node's clock
    private long timersMade;
    private long steps;
    private @Nullable Throwable failure;

    private static final class Timer {
        final long at;
        final long number;
        final String what;
        final Process process;
        final Runnable task;

        Timer(long at, long number, String what, Process process, Runnable task) {
            this.at = at;
            this.number = number;
            this.what = what;
            this.process = process;
            this.task = task;
        }
    }

    private Simulation(long seed, Trace trace) {
        SplittableRandom root = new SplittableRandom(seed);
        this.order = root.split();
        this.draws = root.split();
        this.trace = trace;
    }

    /**
     * Runs code of the world, and the threads that it starts, until it returns; then ends all other threads.
     *
     * @throws Throwable what the code throws, or an exception if no thread can continue
     */
    public static void run(long seed, Trace trace, Runnable director) throws Throwable {
        Simulation simulation = new Simulation(seed, trace);
        Strand first = new Strand(simulation, simulation.world, "director", null);
        simulation.begin(first, () -> {
            director.run();
            simulation.world.kill(); // its other threads end as well
        });
        first.giveBaton();
        simulation.awaitEnd();
        simulation.last.forEach(Runnable::run);
        if (simulation.failure != null) {
            throw simulation.failure;
        }
    }

    private void awaitEnd() throws InterruptedException {
        if (!ended.await(REAL_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            throw new IllegalStateException(
                    "a thread has the baton and waits for a real lock, after " + steps + " steps\n" + trace.tail());
        }
    }

    /** Runs a task when all threads have ended, to release what would outlive the run. */
    public static void atEnd(Runnable task) {
        simulation().last.add(task);
    }

    private void begin(Strand strand, Runnable code) {
        strands.add(strand);
        strand.begin(() -> {
            CURRENT.set(strand);
            try {
                if (!isDead(strand)) {
                    code.run();
                }
            } catch (Killed e) {
                // as it was meant
            } catch (Throwable e) {
                fail(strand, e);
            } finally {
                end(strand);
                CURRENT.remove();
            }
        });
    }

    private void fail(Strand strand, Throwable e) {
        if (strand.process == world) {
            failure = failure == null ? e : failure;
            world.kill();
        } else {
            trace.add(nanos, strand, "uncaught " + e);
        }
    }

    private void end(Strand strand) {
        strands.remove(strand);
        if (strands.isEmpty()) {
            ended.countDown();
        } else {
            next(null).giveBaton();
        }
    }

    static @Nullable Strand strand() {
        return CURRENT.get();
    }

    private static Strand current() {
        Strand strand = CURRENT.get();
        if (strand == null) {
            throw new IllegalStateException("not a thread of a simulation");
        }
        return strand;
    }

    static Simulation simulation() {
        return current().simulation;
    }

    static Monitors monitors() {
        return simulation().monitors;
    }

    /** Returns whether this thread belongs to a simulation. */
    public static boolean isRunning() {
        return CURRENT.get() != null;
    }

    /** Returns the process of this thread. */
    public static Process process() {
        return current().process;
    }

    /** Returns the virtual time. */
    public static Instant now() {
        return START.plusNanos(simulation().nanos);
    }

    /** Returns the time of the node's clock, which may be wrong. */
    public static Instant clock() {
        return now().plus(simulation().skew);
    }

    /** Sets how far the node's clock is ahead of virtual time. */
    public static void setClock(Duration skew) {
        simulation().skew = skew;
    }

    /** Returns the virtual nanoseconds since the start. */
    public static long nanoTime() {
        return simulation().nanos;
    }

    /** Returns the source of all randomness except the order of threads. */
    public static RandomGenerator random() {
        return simulation().draws;
    }

    public static Trace trace() {
        return simulation().trace;
    }

    /** Makes a process; {@link #start} gives it threads. */
    public static Process newProcess(String name, Object host) {
        return new Process(name, host);
    }

    /** Starts a thread of a process. */
    public static void start(Process process, String name, Runnable code) {
        start(process, name, null, code);
    }

    static void start(Process process, String name, @Nullable Object thread, Runnable code) {
        Simulation simulation = simulation();
        requireAlive(current());
        simulation.begin(new Strand(simulation, process, name, thread), code);
    }

    /** Runs a task after a virtual time, on a thread of the world. */
    public static void after(Duration delay, String what, Runnable task) {
        Simulation simulation = simulation();
        simulation.add(delay.toNanos(), what, simulation.world, task);
    }

    /** Runs a task after a virtual time, on a thread of a process, if the process is still alive. */
    public static void after(Process process, Duration delay, String what, Runnable task) {
        simulation().add(delay.toNanos(), what, process, task);
    }

    private void add(long delay, String what, Process process, Runnable task) {
        timers.add(new Timer(nanos + Math.max(0, delay), timersMade++, what, process, task));
    }

    /**
     * A point at which another thread may run next; recorded in the trace.
     *
     * @throws Killed if the process is dead, or dies while another runs
     */
    public static void step(String what) {
        Strand strand = current();
        requireAlive(strand);
        strand.simulation.trace.add(strand.simulation.nanos, strand, what);
        yieldNow();
    }

    /** Adds a line to the trace. */
    public static void note(String what) {
        Strand strand = current();
        strand.simulation.trace.add(strand.simulation.nanos, strand, what);
    }

    /**
     * Ends this thread if its process is dead.
     *
     * @throws Killed if it is
     */
    public static void requireAlive() {
        requireAlive(current());
    }

    /** A point at which another thread may run next. */
    static void yieldNow() {
        Strand strand = current();
        requireAlive(strand);
        strand.waitForNothing();
        strand.simulation.switchFrom(strand);
        requireAlive(strand);
    }

    /** Waits for some virtual time. */
    public static void pause(Duration time) {
        await(() -> false, time.toNanos());
    }

    /** Waits until a condition holds; it is evaluated before each step, so it must be cheap and change nothing. */
    public static void await(BooleanSupplier condition) {
        await(condition, Strand.NEVER);
    }

    /** Waits until a condition holds, at most for a given time, and returns whether it does. */
    public static boolean await(BooleanSupplier condition, long limit) {
        Strand strand = current();
        requireAlive(strand);
        long now = strand.simulation.nanos;
        strand.waitFor(condition, limit >= Strand.NEVER - now ? Strand.NEVER : now + Math.max(0, limit));
        strand.simulation.switchFrom(strand);
        requireAlive(strand);
        return condition.getAsBoolean();
    }

    private static void requireAlive(Strand strand) {
        if (strand.simulation.isDead(strand)) {
            throw new Killed();
        }
    }

    private boolean isDead(Strand strand) {
        return strand.process.isDead() || world.isDead();
    }

    boolean isOver() {
        return world.isDead();
    }

    Strand strandOf(Object thread) {
        return strands.stream()
                .filter(strand -> strand.thread == thread)
                .findFirst()
                .orElseGet(Simulation::current);
    }

    private void switchFrom(Strand strand) {
        Strand next = next(strand);
        trace.sum(nanos, next.name.hashCode());
        if (next != strand) {
            next.giveBaton();
            strand.await();
        }
    }

    /** Chooses the next thread, and advances the clock. */
    private Strand next(@Nullable Strand current) {
        steps++;
        nanos += order.nextInt(LONGEST_STEP_NANOS);
        while (true) {
            startDue();
            if (current != null && order.nextInt(MOST_IN_A_ROW) != 0 && current.isReady(nanos)) {
                return current;
            }
            ready.clear();
            long first = timers.isEmpty() ? Strand.NEVER : timers.peek().at;
            for (Strand strand : strands) {
                if (strand.isReady(nanos)) {
                    ready.add(strand);
                }
                first = Math.min(first, strand.until());
            }
            if (!ready.isEmpty()) {
                return ready.get(order.nextInt(ready.size()));
            }
            advance(first);
        }
    }

    private void advance(long first) {
        if (first == Strand.NEVER) {
            failure = new IllegalStateException("no thread can go on: " + strands + "\n" + trace.tail());
            world.kill();
        } else {
            nanos = Math.max(nanos, first);
        }
    }

    private void startDue() {
        while (!timers.isEmpty() && timers.peek().at <= nanos) {
            Timer timer = timers.poll();
            if (!timer.process.isDead()) {
                begin(new Strand(this, timer.process, timer.what, null), timer.task);
            }
        }
    }
}
