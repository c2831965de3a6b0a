// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static java.nio.file.StandardWatchEventKinds.ENTRY_CREATE;
import static java.nio.file.StandardWatchEventKinds.ENTRY_DELETE;
import static java.nio.file.StandardWatchEventKinds.ENTRY_MODIFY;

import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that a file was written, replaced, made or removed.
 *
 * <p>It watches the file's directory: a file that another is renamed onto is a new one, and a watch
 * on the old would never speak again. It may speak too often and never misses the last change.
 */
final class FaultWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(FaultWatch.class);

    private final Path directory;
    private final Path name;
    private final Runnable changed;
    private final WatchService service;

    private FaultWatch(Path file, Runnable changed) throws IOException {
        Path absolute = file.toAbsolutePath();
        this.directory = Objects.requireNonNull(absolute.getParent(), "a file has a directory");
        this.name = Objects.requireNonNull(absolute.getFileName());
        this.changed = changed;
        this.service = directory.getFileSystem().newWatchService();
    }

    /**
     * Starts to watch; what happens from here on is noticed.
     *
     * @param file the file, which need not exist; its directory must
     * @param changed is called on a thread of its own after each change
     * @throws DraException if the directory can't be watched
     */
    static FaultWatch start(Path file, Runnable changed) {
        try {
            FaultWatch watch = new FaultWatch(file, changed);
            watch.directory.register(watch.service, ENTRY_CREATE, ENTRY_MODIFY, ENTRY_DELETE);
            Thread thread = new Thread(watch::run, "fault-file");
            thread.setDaemon(true);
            thread.start();
            return watch;
        } catch (IOException e) {
            throw new DraException(
                    "Can't watch the directory of the fault file "
                            + file
                            + ": "
                            + e
                            + "; create the directory before the driver starts",
                    e);
        }
    }

    private void run() {
        try {
            boolean watched = true;
            while (watched) {
                WatchKey key = service.take();
                if (key.pollEvents().stream().anyMatch(this::concernsTheFile)) {
                    changed.run();
                }
                watched = key.reset();
            }
            LOG.atWarn()
                    .addKeyValue("directory", directory)
                    .log("The fault file's directory is gone; create it and restart the driver");
        } catch (ClosedWatchServiceException | InterruptedException e) {
            LOG.atDebug().log("No longer watching the fault file");
        }
    }

    /** A mounted ConfigMap changes by its link {@code ..data}; an overflow names no file. */
    private boolean concernsTheFile(WatchEvent<?> event) {
        return !(event.context() instanceof Path changedName)
                || changedName.equals(name)
                || changedName.startsWith("..data");
    }

    @Override
    public void close() {
        try {
            service.close();
        } catch (IOException e) {
            LOG.atDebug().setCause(e).log("The watch on the fault file did not end cleanly");
        }
    }
}
