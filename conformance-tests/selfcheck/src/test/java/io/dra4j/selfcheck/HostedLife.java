// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.testkit.driver.Instance;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bare driver in this JVM: its end cuts its connections first, then its threads, and leaves
 * files as they are, so that what others see is the end of a process.
 */
final class HostedLife extends Life implements Instance {

    private static final Logger LOG = LoggerFactory.getLogger(HostedLife.class);

    /** So long a thread may take to notice. */
    private static final long SLOWEST_MILLIS = 5_000;

    private static final AtomicLong NUMBERS =
            new AtomicLong(ProcessHandle.current().pid() * 1000);

    private final long number = NUMBERS.incrementAndGet();
    private final Path log;
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private final List<Closeable> resources = new ArrayList<>(); // guarded by this
    private final CountDownLatch ended = new CountDownLatch(1);
    private int status; // guarded by this
    private boolean over; // guarded by this
    private Runnable stop = () -> end(143); // guarded by this

    HostedLife(Path log) {
        this.log = log;
    }

    /** Begins it with some work. */
    void begin(Runnable work) {
        thread(work).start();
    }

    /** Sets the effect of SIGTERM. */
    synchronized void onTerminate(Runnable orderly) {
        stop = orderly;
    }

    @Override
    long number() {
        return number;
    }

    @Override
    int socketThreads() {
        return 32;
    }

    @Override
    void log(String line) {
        check();
        try {
            Files.writeString(log, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    Thread thread(Runnable work) {
        Thread thread = new Thread(() -> live(work), "hosted-" + number);
        thread.setDaemon(true);
        return thread;
    }

    private void live(Runnable work) {
        CURRENT.set(this);
        threads.add(Thread.currentThread());
        try {
            check();
            work.run();
        } catch (Over e) {
            // as it should
        } finally {
            threads.remove(Thread.currentThread());
        }
    }

    @Override
    synchronized void check() {
        if (over) {
            throw new Over();
        }
    }

    @Override
    void closesAtEnd(Closeable resource) {
        synchronized (this) {
            if (!over) {
                resources.add(resource);
                return;
            }
        }
        close(resource);
        throw new Over();
    }

    @Override
    void end(int with) {
        finish(with);
        throw new Over();
    }

    private void finish(int with) {
        List<Closeable> left;
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
            status = with;
            left = List.copyOf(resources);
        }
        left.forEach(HostedLife::close);
        List<Thread> others =
                threads.stream().filter(each -> each != Thread.currentThread()).toList();
        others.forEach(Thread::interrupt);
        boolean interrupted = Thread.interrupted(); // by the end of its own calls
        others.forEach(HostedLife::bury);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        ended.countDown();
    }

    private static void close(Closeable resource) {
        try {
            resource.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void bury(Thread thread) {
        try {
            thread.join(SLOWEST_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            LOG.warn("{} lives on after its driver's end, at {}", thread, Arrays.toString(thread.getStackTrace()));
        }
    }

    @Override
    public boolean isAlive() {
        return ended.getCount() > 0;
    }

    @Override
    public OptionalLong pid() {
        return OptionalLong.empty();
    }

    @Override
    public synchronized void terminate() {
        thread(stop).start();
    }

    @Override
    public void kill() {
        finish(137);
        awaitExit(Duration.ofMillis(SLOWEST_MILLIS));
    }

    @Override
    public OptionalInt awaitExit(Duration timeout) {
        try {
            if (!ended.await(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                return OptionalInt.empty();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return OptionalInt.empty();
        }
        synchronized (this) {
            return OptionalInt.of(status);
        }
    }
}
