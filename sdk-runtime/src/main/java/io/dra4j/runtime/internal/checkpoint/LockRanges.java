// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.runtime.internal.observe.LogField;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one descriptor that this process has of a lock file, and the ranges it holds.
 *
 * <p>Closing any descriptor of a file gives back all locks that the process has on it, so all who
 * open one file share this object, and the last who leaves closes it. The kernel does not keep the
 * threads of a process apart; the set of ranges in use does. Thread-safe.
 */
final class LockRanges {

    private static final Logger LOG = LoggerFactory.getLogger(LockRanges.class);
    private static final Set<StandardOpenOption> OPTIONS =
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    private static final Map<Path, LockRanges> OPEN = new HashMap<>(); // guarded by itself

    private final Path path;
    private final FileChannel channel;
    private final Set<Long> taken = new HashSet<>(); // guarded by itself
    private int users; // guarded by OPEN

    private LockRanges(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /** Opens a file, or joins those who have opened it. */
    static LockRanges open(Path file) throws IOException {
        Path path = file.toAbsolutePath().getParent().toRealPath().resolve(file.getFileName());
        synchronized (OPEN) {
            LockRanges ranges = OPEN.get(path);
            if (ranges == null) {
                FileChannel channel = FileChannel.open(path, OPTIONS, JournalFile.OWNER_ONLY);
                ranges = new LockRanges(path, channel);
                OPEN.put(path, ranges);
            }
            ranges.users++;
            return ranges;
        }
    }

    /** Leaves; the last one closes the file. */
    void leave() {
        synchronized (OPEN) {
            users--;
            if (users > 0) {
                return;
            }
            OPEN.remove(path);
            try {
                channel.close();
            } catch (IOException e) {
                warn("Failed to close the lock file", e);
            }
        }
    }

    /** Takes one byte, or returns {@code null} if it is taken. */
    @Nullable
    Range tryTake(long position) throws IOException {
        synchronized (taken) {
            if (!taken.add(position)) {
                return null;
            }
        }
        FileLock lock = null;
        try {
            lock = channel.tryLock(position, 1, false);
        } finally {
            if (lock == null) {
                free(position);
            }
        }
        return lock == null ? null : new Range(this, position, lock);
    }

    private void free(long position) {
        synchronized (taken) {
            taken.remove(position);
        }
    }

    private void warn(String what, IOException e) {
        LOG.atWarn().addKeyValue(LogField.PATH, path).log(what, e);
    }

    /**
     * Returns the file's content as far as it fits.
     *
     * <p>An interrupt would close the file, as with all reading and writing; with locking it does
     * not.
     */
    ByteBuffer read(int length) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(length);
        channel.read(content, 0);
        return content.flip();
    }

    void write(ByteBuffer content) throws IOException {
        channel.write(content, 0);
    }

    /** A byte that is taken. */
    record Range(LockRanges ranges, long position, FileLock lock) {

        void giveBack() {
            try {
                lock.release();
            } catch (IOException e) { // closed: then it is released already
                ranges.warn("Failed to release lock range", e);
            }
            ranges.free(position);
        }
    }
}
