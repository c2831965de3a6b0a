// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.runtime.internal.files.DataDirectory;
import io.dra4j.runtime.internal.observe.LogField;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.util.Random;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of bytes: some are appended and synced, or all are replaced by a rename.
 *
 * <p>An append that fails is truncated again. While the channel is open its inode is in use, so a file of that name
 * with another inode is another file.
 *
 * <p>Not thread-safe; must not be used by a thread that may be interrupted: an interrupt would close the channel.
 */
final class JournalFile implements Closeable {

    /** Records hold what providers keep about claims. */
    static final FileAttribute<?> OWNER_ONLY = DataDirectory.mode("rw-------");

    private static final Logger LOG = LoggerFactory.getLogger(JournalFile.class);
    private static final Set<StandardOpenOption> OPTIONS =
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);

    private final Path path;
    private final Sync sync;
    private FileChannel channel;
    private Object inode;
    private long end;
    private boolean isNameSynced;

    private JournalFile(Path path, FileChannel channel, Sync sync) throws IOException {
        this.path = path;
        this.sync = sync;
        this.channel = channel;
        this.inode = inode(path);
    }

    /** Flushes a channel's writes to the disk: {@link FileChannel#force}. */
    interface Sync {
        void force(FileChannel channel, boolean metadata) throws IOException;
    }

    /** Opens a file, and creates it if it does not exist; anything but a file is an error. */
    static JournalFile open(Path path, Sync sync) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw new FileSystemException(path.toString(), null, "not a regular file");
        }
        FileChannel channel = FileChannel.open(path, OPTIONS, OWNER_ONLY);
        try {
            return new JournalFile(path, channel, sync);
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    static Object inode(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    LineReader reader(long position) {
        return new LineReader(channel, position);
    }

    Object inode() {
        return inode;
    }

    long end() {
        return end;
    }

    /** Sets the position of the next bytes; bytes beyond it do not count. */
    void endAt(long position) {
        end = position;
    }

    /** Truncates bytes that do not count. */
    void cut() throws IOException {
        if (channel.size() > end) {
            channel.truncate(end);
        }
    }

    boolean isOpen() {
        return channel.isOpen();
    }

    long size() throws IOException {
        return channel.size();
    }

    /**
     * Makes the name of the file durable, unless it already is.
     *
     * <p>Until then, a power failure could bring back the file that had the name before.
     */
    void syncName() throws IOException {
        if (!isNameSynced) {
            Path directory = path.toAbsolutePath().getParent();
            try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
                sync.force(names, true);
            }
            isNameSynced = true;
        }
    }

    /**
     * Appends bytes; if it throws, none of them count.
     *
     * @param isSynced whether they survive a power failure from then on; they survive the end of the process either way
     */
    void append(byte[] bytes, boolean isSynced) throws IOException {
        syncName();
        cut();
        try {
            write(channel, bytes, end);
            if (isSynced) {
                sync.force(channel, false);
            }
        } catch (IOException | RuntimeException | Error e) {
            cutAfter(e);
            throw e;
        }
        end += bytes.length;
    }

    /** Prevents a line whose write failed from being committed later. */
    private void cutAfter(Throwable cause) {
        try {
            cut();
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    /** Replaces the whole file; {@link #syncName} makes that durable. */
    void replace(byte[] bytes) throws IOException {
        Path next = path.resolveSibling(path.getFileName() + ".new");
        Files.deleteIfExists(next); // left by a crash: the journal's lock is exclusive
        FileChannel written = FileChannel.open(next, OPTIONS, OWNER_ONLY);
        Object writtenInode;
        try {
            write(written, bytes, 0);
            sync.force(written, true);
            writtenInode = inode(next);
            Files.move(next, path, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException | RuntimeException | Error e) {
            close(written);
            discard(next, e);
            throw e;
        }
        close(channel);
        channel = written;
        inode = writtenInode;
        end = bytes.length;
        isNameSynced = false;
    }

    /** Removes a half-written file from a full disk. */
    private static void discard(Path file, Throwable cause) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    private static void write(FileChannel channel, byte[] bytes, long position) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(bytes);
        while (left.hasRemaining()) {
            channel.write(left, position + left.position());
        }
    }

    @Override
    public void close() {
        close(channel);
    }

    private void close(FileChannel old) {
        try {
            old.close();
        } catch (IOException e) {
            LOG.atWarn()
                    .addKeyValue(LogField.PATH, path)
                    .log("Failed to close the journal; committed records are durable", e);
        }
    }

    /**
     * A file next to a journal that reserves disk space, so that claims can be unprepared when the disk is full.
     *
     * <p>It is released when a write that unprepares or forgets a claim fails, and restored before the next claim is
     * prepared: without it, no claim is prepared that could not be unprepared.
     */
    record Reserve(Path path) {

        /** Enough to unprepare a few hundred claims. */
        static final int SIZE = 128 << 10;

        static Reserve of(Path journal) {
            return new Reserve(DataDirectory.of(journal).reserve());
        }

        boolean isThere() {
            try {
                return Files.size(path) == SIZE;
            } catch (IOException e) {
                return false; // it was given up, or putBack fails in the same way and tells why
            }
        }

        void giveUp() throws IOException {
            Files.deleteIfExists(path);
        }

        /** Reserves the space again, if it was released; all of it or nothing. */
        void putBack() throws IOException {
            if (isThere()) {
                return;
            }
            giveUp(); // a part of it that a crash has left
            byte[] incompressible = new byte[SIZE];
            new Random(SIZE).nextBytes(incompressible);
            try {
                Files.createFile(path, JournalFile.OWNER_ONLY);
                Files.write(path, incompressible);
            } catch (IOException e) {
                discard(path, e);
                throw e;
            }
        }
    }
}
