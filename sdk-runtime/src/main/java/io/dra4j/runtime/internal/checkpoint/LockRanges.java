// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.runtime.internal.observe.LogField;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The only descriptor that this process has of a lock file, and the ranges that it holds.
 *
 * <p>Closing any descriptor of a file releases all locks that the process holds on it, so all users of one file share
 * this object, and the last one closes it. The kernel does not distinguish the threads of a process; the set of ranges
 * in use does. Thread-safe.
 */
final class LockRanges {

    private static final Logger LOG = LoggerFactory.getLogger(LockRanges.class);
    private static final Set<StandardOpenOption> OPTIONS =
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    private static final Path LOCKS = Path.of("/proc/locks");
    private static final int PID = 4; // of the columns in it
    private static final Map<Path, LockRanges> OPEN = new HashMap<>(); // guarded by itself

    private final Path path;
    private final Map<Long, FileLock> taken = new HashMap<>(); // guarded by itself, as are changes of the next two
    private volatile FileChannel channel;
    private Object inode;
    private int users; // guarded by OPEN

    private LockRanges(Path path) throws IOException {
        this.path = path;
        this.channel = FileChannel.open(path, OPTIONS, JournalFile.OWNER_ONLY);
        this.inode = JournalFile.inode(path);
    }

    /** Opens a file, or shares it if it is open. */
    static LockRanges open(Path file) throws IOException {
        Path path = file.toAbsolutePath().getParent().toRealPath().resolve(file.getFileName());
        synchronized (OPEN) {
            LockRanges ranges = OPEN.get(path);
            if (ranges == null) {
                ranges = new LockRanges(path);
                OPEN.put(path, ranges);
            }
            ranges.users++;
            return ranges;
        }
    }

    /** Leaves; the last user closes the file. */
    void leave() {
        synchronized (OPEN) {
            users--;
            if (users > 0) {
                return;
            }
            OPEN.remove(path);
            synchronized (taken) {
                close(channel);
            }
        }
    }

    private void close(FileChannel file) {
        try {
            file.close();
        } catch (IOException e) {
            warn("Failed to close the lock file", e);
        }
    }

    /**
     * Recreates the file if it was removed, and takes the held locks there: otherwise, the next process would create a
     * file that this process does not know. If another process made it first, the locks that it holds are lost.
     */
    void restore() throws IOException {
        synchronized (taken) {
            if (!channel.isOpen() || isThere()) {
                return;
            }
            FileChannel next = FileChannel.open(path, OPTIONS, JournalFile.OWNER_ONLY);
            Map<Long, FileLock> locks;
            try {
                locks = takeAll(next);
            } catch (IOException e) {
                close(next);
                throw e;
            }
            close(channel); // which invalidates the locks of the removed file
            channel = next;
            inode = JournalFile.inode(path);
            int lost = taken.size() - locks.size();
            taken.putAll(locks);
            LOG.atWarn()
                    .addKeyValue(LogField.PATH, path)
                    .log("The lock file was removed and has been recreated; locks lost to another process: {}", lost);
        }
    }

    private boolean isThere() throws IOException {
        try {
            return JournalFile.inode(path).equals(inode);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private Map<Long, FileLock> takeAll(FileChannel file) throws IOException {
        Map<Long, FileLock> locks = new HashMap<>();
        for (Long position : taken.keySet()) {
            FileLock lock = file.tryLock(position, 1, false);
            if (lock != null) {
                locks.put(position, lock);
            }
        }
        return locks;
    }

    /** Takes one byte, and returns whether it was free. */
    boolean tryTake(long position) throws IOException {
        synchronized (taken) {
            FileLock lock = taken.containsKey(position) ? null : channel.tryLock(position, 1, false);
            if (lock != null) {
                taken.put(position, lock);
            }
            return lock != null;
        }
    }

    /** Returns who has taken a byte; the kernel shows no PID for a process of another pod. */
    String holder(long position) {
        synchronized (taken) {
            if (taken.containsKey(position)) {
                return "this process itself";
            }
        }
        try (Stream<String> locks = Files.lines(LOCKS)) {
            String range = ":%s %s %s".formatted(Files.getAttribute(path, "unix:ino"), position, position);
            return locks.filter(lock -> lock.endsWith(range))
                    .map(lock -> "process " + lock.split(" +")[PID])
                    .findFirst()
                    .orElse("another process");
        } catch (IOException | UncheckedIOException e) {
            return "another process";
        }
    }

    boolean isLost(long position) {
        synchronized (taken) {
            FileLock lock = taken.get(position);
            return lock == null || !lock.isValid();
        }
    }

    void giveBack(long position) {
        synchronized (taken) {
            FileLock lock = taken.remove(position);
            try {
                if (lock != null && lock.isValid()) { // not lost, and not closed
                    lock.release();
                }
            } catch (IOException e) {
                warn("Failed to release lock range", e);
            }
        }
    }

    private void warn(String what, IOException e) {
        LOG.atWarn().addKeyValue(LogField.PATH, path).log(what, e);
    }

    /**
     * Returns the file's content as far as it fits.
     *
     * <p>An interrupt would close the file, as with all reading and writing; with locking it does not. Neither
     * locks the ranges: a disk that stalls must not block a probe that asks whether one is lost.
     */
    ByteBuffer read(int length) throws IOException {
        ByteBuffer content = ByteBuffer.allocate(length);
        use(file -> file.read(content.clear(), 0));
        return content.flip();
    }

    void write(ByteBuffer content) throws IOException {
        use(file -> file.write(content.duplicate(), 0));
    }

    private void use(Use use) throws IOException {
        FileChannel file = channel;
        try {
            use.of(file);
        } catch (ClosedChannelException e) {
            if (file == channel) {
                throw e;
            }
            use.of(channel); // it has just been recreated
        }
    }

    private interface Use {
        int of(FileChannel file) throws IOException;
    }
}
