// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static java.nio.file.StandardWatchEventKinds.ENTRY_CREATE;
import static java.nio.file.StandardWatchEventKinds.ENTRY_DELETE;
import static java.nio.file.StandardWatchEventKinds.ENTRY_MODIFY;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches a file or probes the hardware, and reports that the inventory may have changed.
 *
 * <p>A provider opens it in {@code start}, usually with {@code context::inventoryChanged}, and
 * closes it in {@code close}:
 *
 * <pre>{@code
 * watch = InventoryWatch.ofProbe(Duration.ofSeconds(5), this::serials, context::inventoryChanged);
 * }</pre>
 *
 * <p>The first look is not a change, and neither is a look that fails: the first of several failures
 * in a row is logged, and the last result is remembered, because unknown is not empty. Thread-safe.
 */
public final class InventoryWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(InventoryWatch.class);

    private final String what;
    private final Callable<?> probe;
    private final Runnable changed;
    private Object seen; // guarded by this
    private boolean failing; // guarded by this
    private volatile boolean closed;
    private volatile @Nullable Future<?> next;
    private volatile AutoCloseable source = () -> {};

    private InventoryWatch(String what, Callable<?> probe, Runnable changed) {
        this.what = what;
        this.probe = probe;
        this.changed = changed;
        this.seen = this; // equal to nothing that a probe returns
    }

    /**
     * Probes the hardware periodically.
     *
     * @param interval the time between the end of a look and the next one
     * @param probe returns what it sees, compared by {@code equals}: a list of serial numbers, say
     * @param changed is called after each look that saw something other than the one before, on the thread of the watch
     * @return the watch, which has looked once
     */
    public static InventoryWatch ofProbe(Duration interval, Callable<?> probe, Runnable changed) {
        return ofProbe(interval, probe, changed, ShortLivedThreads.upkeep("inventory-watch"));
    }

    /**
     * Probes the hardware periodically, on the caller's timer.
     *
     * @param interval the time between the end of a look and the next one
     * @param probe returns what it sees, compared by {@code equals}
     * @param changed is called after each look that saw something other than the one before
     * @param timer runs the looks; the watch ends only its own task
     * @return the watch, which has looked once
     */
    public static InventoryWatch ofProbe(
            Duration interval, Callable<?> probe, Runnable changed, ScheduledExecutorService timer) {
        Objects.requireNonNull(interval, "interval");
        InventoryWatch watch = new InventoryWatch(
                "the hardware", Objects.requireNonNull(probe, "probe"), Objects.requireNonNull(changed, "changed"));
        watch.lookEvery(() -> interval, Objects.requireNonNull(timer, "timer"));
        return watch;
    }

    /** Calls a probe for its side effects, at intervals that may vary. */
    static InventoryWatch every(
            Supplier<Duration> interval, String what, Callable<?> probe, ScheduledExecutorService timer) {
        InventoryWatch watch = new InventoryWatch(what, probe, () -> {});
        watch.lookEvery(interval, timer);
        return watch;
    }

    private void lookEvery(Supplier<Duration> interval, ScheduledExecutorService timer) {
        look();
        try {
            next = timer.schedule(
                    () -> {
                        if (!closed) {
                            lookEvery(interval, timer);
                        }
                    },
                    interval.get().toNanos(),
                    TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            LOG.atDebug().log("No longer watching {}", what);
        }
    }

    /**
     * Watches a regular file, which may be written, replaced, created and removed at any time, like a mounted
     * ConfigMap.
     *
     * @param file the file, which need not exist; its directory must
     * @param changed is called after each change of the content, on the thread of the watch
     * @return the watch, which has looked once
     * @throws DraException if the file's directory can't be watched
     */
    public static InventoryWatch ofFile(Path file, Runnable changed) {
        Objects.requireNonNull(file, "file");
        InventoryWatch watch = new InventoryWatch(
                file.toString(), () -> FileEvents.content(file), Objects.requireNonNull(changed, "changed"));
        FileEvents events = FileEvents.open(file);
        watch.source = events;
        watch.look();
        events.start(watch::look);
        return watch;
    }

    /** Looks immediately, outside the schedule, and calls the function if something has changed. */
    public void look() {
        if (sees()) {
            try {
                changed.run();
            } catch (RuntimeException | Error e) { // the timer would end
                LOG.atError().setCause(e).log("The call after a change of {} failed", what);
            }
        }
    }

    /** Returns whether the result differs from the last one. */
    private synchronized boolean sees() {
        try {
            Object now = Optional.ofNullable(probe.call());
            Object before = seen;
            seen = now;
            if (failing) {
                failing = false;
                LOG.atInfo().log("The watch can read {} again", what);
            }
            return before != this && !now.equals(before);
        } catch (Exception | Error e) { // of a provider's probe: the timer would end
            if (!failing) {
                failing = true;
                LOG.atWarn().setCause(e).log("The watch can't read {}; it tries again", what);
            }
            return false;
        }
    }

    /** Ends the watch; a call in progress continues. */
    @Override
    public void close() {
        closed = true;
        Future<?> waiting = next;
        if (waiting != null) {
            waiting.cancel(false);
        }
        try {
            source.close();
        } catch (Exception e) {
            LOG.atDebug().setCause(e).log("The watch on {} did not end cleanly", what);
        }
    }

    /**
     * The events of one file: it was written, replaced, created or removed.
     *
     * <p>The file's directory is watched: a file that another is renamed onto is a new one, and a watch
     * on the old would never report again. It may report too often, but never misses the last change.
     */
    private static final class FileEvents implements AutoCloseable {

        private static final Logger LOG = LoggerFactory.getLogger(FileEvents.class);
        private static final int MOST_COMPARED = 1 << 20;

        private final Path directory;
        private final Path name;
        private final WatchService service;

        private FileEvents(Path file) throws IOException {
            Path absolute = file.toAbsolutePath();
            this.directory = Objects.requireNonNull(absolute.getParent(), "a file has a directory");
            this.name = Objects.requireNonNull(absolute.getFileName());
            this.service = directory.getFileSystem().newWatchService();
            try {
                directory.register(service, ENTRY_CREATE, ENTRY_MODIFY, ENTRY_DELETE);
            } catch (IOException e) {
                service.close();
                throw e;
            }
        }

        /**
         * Starts collecting events.
         *
         * @throws DraException if the directory can't be watched
         */
        static FileEvents open(Path file) {
            try {
                return new FileEvents(file);
            } catch (IOException e) {
                throw new DraException(
                        "Can't watch the directory of %s: %s; create the directory before the driver starts"
                                .formatted(file, e),
                        e);
            }
        }

        /**
         * Returns a value that stays equal while the file's content does: the content of a small
         * file, size, time and identity of any other; an empty list if there is no file.
         */
        static List<Object> content(Path file) throws IOException {
            try {
                BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
                return now.isRegularFile() && now.size() <= MOST_COMPARED
                        ? List.of(ByteBuffer.wrap(Files.readAllBytes(file)))
                        : List.of(now.size(), now.lastModifiedTime(), String.valueOf(now.fileKey()));
            } catch (NoSuchFileException e) {
                return List.of();
            }
        }

        /** Calls a function after events, on its own thread, until this is closed. */
        void start(Runnable happened) {
            Thread thread = new Thread(() -> run(happened), "inventory-watch");
            thread.setDaemon(true);
            thread.start();
        }

        private void run(Runnable happened) {
            try {
                boolean watched = true;
                while (watched) {
                    WatchKey key = service.take();
                    if (key.pollEvents().stream().anyMatch(this::concernsTheFile)) {
                        happened.run();
                    }
                    watched = key.reset();
                }
                LOG.atWarn().log("The directory {} is gone; create it and restart the driver", directory);
            } catch (ClosedWatchServiceException | InterruptedException e) {
                LOG.atDebug().log("No longer watching {}", name);
            }
        }

        /** A mounted ConfigMap changes through its link {@code ..data}; an overflow names no file. */
        private boolean concernsTheFile(WatchEvent<?> event) {
            return !(event.context() instanceof Path changedName)
                    || changedName.equals(name)
                    || changedName.startsWith("..data");
        }

        @Override
        public void close() throws IOException {
            service.close();
        }
    }
}
