// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static java.nio.file.StandardWatchEventKinds.ENTRY_CREATE;
import static java.nio.file.StandardWatchEventKinds.ENTRY_DELETE;
import static java.nio.file.StandardWatchEventKinds.ENTRY_MODIFY;

import io.dra4j.api.error.DraException;
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
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The events of one file: it was written, replaced, made or removed.
 *
 * <p>The file's directory is watched: a file that another is renamed onto is a new one, and a watch
 * on the old would never report again. It may report too often and never misses the last change.
 */
final class FileEvents implements AutoCloseable {

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
    }

    /**
     * Begins to collect events.
     *
     * @throws DraException if the directory can't be watched
     */
    static FileEvents open(Path file) {
        try {
            FileEvents events = new FileEvents(file);
            events.directory.register(events.service, ENTRY_CREATE, ENTRY_MODIFY, ENTRY_DELETE);
            return events;
        } catch (IOException e) {
            throw new DraException(
                    "Can't watch the directory of %s: %s; create the directory before the driver starts"
                            .formatted(file, e),
                    e);
        }
    }

    /**
     * Returns something that is equal as long as the file's content is: the content of a small
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

    /** Calls a function after events, on a thread of its own, until this is closed. */
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

    /** A mounted ConfigMap changes by its link {@code ..data}; an overflow names no file. */
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
