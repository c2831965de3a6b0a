// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import io.dra4j.simulation.disk.DiskOperation.Kind;
import io.dra4j.simulation.disk.Node.Directory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An open file or directory. */
final class DiskChannel extends FileChannel {

    final DiskFileSystem mount;
    final String path;
    final Node node;
    private final boolean isRead;
    private final boolean isWritten;
    private final boolean isAppended;
    private final boolean isSynced;
    private long position;

    DiskChannel(DiskFileSystem mount, String path, Node node, Set<? extends OpenOption> options) {
        this.mount = mount;
        this.path = path;
        this.node = node;
        this.isAppended = options.contains(StandardOpenOption.APPEND);
        this.isWritten = isAppended || options.contains(StandardOpenOption.WRITE);
        this.isRead = !isWritten || options.contains(StandardOpenOption.READ);
        this.isSynced = options.contains(StandardOpenOption.SYNC) || options.contains(StandardOpenOption.DSYNC);
        mount.channels.add(this);
        mount.disk.count(node, 0, 1, 0);
    }

    private Owner.Outcome before(Kind kind, long bytes) throws IOException {
        checkOpen();
        try {
            Owner.Outcome outcome = mount.before(kind, path, "", bytes);
            checkOpen(); // another thread may have closed it meanwhile
            return outcome;
        } catch (ClosedByInterruptException e) {
            close(); // as a channel of the JDK does
            throw e;
        }
    }

    private void checkOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    private void checkWritten() throws ClosedChannelException {
        checkOpen();
        if (!isWritten) {
            throw new NonWritableChannelException();
        }
    }

    private RegularFile file() throws IOException {
        if (node instanceof RegularFile file) {
            return file;
        }
        throw new IOException("Is a directory");
    }

    @Override
    public int read(ByteBuffer to) throws IOException {
        int read = read(to, position);
        position += Math.max(0, read);
        return read;
    }

    @Override
    public int read(ByteBuffer to, long from) throws IOException {
        checkOpen();
        if (from < 0) {
            throw new IllegalArgumentException("Negative position");
        }
        if (!isRead) {
            throw new NonReadableChannelException();
        }
        if (!to.hasRemaining()) {
            return 0; // without a system call, like the JDK
        }
        Owner.Outcome outcome = before(Kind.READ, to.remaining());
        int count = (int) Math.min(Math.min(to.remaining(), outcome.bytes()), file().length() - from);
        if (count > 0) {
            file().read(to, (int) from, count);
        }
        fail(outcome);
        return count > 0 ? count : -1;
    }

    private static void fail(Owner.Outcome outcome) throws IOException {
        if (outcome.failure() != null) {
            throw outcome.failure();
        }
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        checkWritten();
        int written = doWrite(from, position, isAppended);
        position = isAppended ? file().length() : position + written;
        return written;
    }

    @Override
    public int write(ByteBuffer from, long to) throws IOException {
        if (to < 0) {
            throw new IllegalArgumentException("Negative position");
        }
        checkWritten();
        return doWrite(from, to, isAppended);
    }

    private int doWrite(ByteBuffer from, long to, boolean isAtEnd) throws IOException {
        if (!from.hasRemaining()) {
            return 0; // without a system call, like the JDK
        }
        Owner.Outcome outcome = before(Kind.WRITE, from.remaining());
        byte[] bytes = new byte[Math.min(from.remaining(), outcome.bytes())];
        from.duplicate().get(bytes);
        int written = mount.disk.write(file(), Math.toIntExact(isAtEnd ? file().length() : to), bytes);
        from.position(from.position() + written);
        node.modified = mount.now();
        fail(outcome);
        if (written == 0) {
            throw new IOException("No space left on device");
        }
        if (isSynced) {
            force(true);
        }
        return written;
    }

    @Override
    public long position() throws IOException {
        checkOpen();
        return isAppended ? file().length() : position;
    }

    @Override
    public FileChannel position(long to) throws IOException {
        checkOpen();
        if (to < 0) {
            throw new IllegalArgumentException("Negative position");
        }
        position = to;
        return this;
    }

    @Override
    public long size() throws IOException {
        before(Kind.STAT, 0);
        return node instanceof RegularFile file ? file.length() : RegularFile.PAGE;
    }

    @Override
    public FileChannel truncate(long length) throws IOException {
        checkOpen();
        if (length < 0) {
            throw new IllegalArgumentException("Negative size");
        }
        checkWritten();
        before(Kind.TRUNCATE, length);
        if (length < file().length()) {
            mount.disk.truncate(file(), length);
            node.modified = mount.now();
        }
        position = Math.min(position, length);
        return this;
    }

    @Override
    public void force(boolean metadata) throws IOException {
        try {
            before(Kind.SYNC, 0);
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            if (node instanceof RegularFile file) {
                file.failToSync();
            }
            throw e;
        }
        if (node instanceof RegularFile file) {
            file.sync();
        } else if (node instanceof Directory directory) {
            mount.disk.sync(directory);
        }
    }

    @Override
    public @Nullable FileLock tryLock(long from, long size, boolean isShared) throws IOException {
        checkOpen();
        if (isShared && !isRead) {
            throw new NonReadableChannelException();
        }
        if (!isShared && !isWritten) {
            throw new NonWritableChannelException();
        }
        before(Kind.LOCK, 0);
        if (mount.locks.stream().anyMatch(other -> other.channel.node == node && other.overlaps(from, size))) {
            throw new OverlappingFileLockException();
        }
        if (node.locks.stream()
                .anyMatch(other -> other.channel.mount != mount
                        && other.overlaps(from, size)
                        && !(isShared && other.isShared()))) {
            return null;
        }
        DiskLock lock = new DiskLock(this, from, size, isShared);
        mount.locks.add(lock);
        node.locks.add(lock);
        return lock;
    }

    /** Closes it, which can't fail and switches to no other thread: this runs in a monitor of the JDK. */
    @Override
    protected void implCloseChannel() {
        if (!mount.isDead) {
            end();
        }
    }

    void end() {
        mount.channels.remove(this);
        mount.locks.removeIf(lock -> lock.channel == this);
        node.locks.removeIf(lock -> lock.channel.mount == mount); // as in POSIX, also those of other channels
        mount.disk.count(node, 0, -1, 0);
    }

    @Override
    public long read(ByteBuffer[] to, int offset, int count) {
        throw DiskFileSystem.unsupported("scattering read");
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int count) {
        throw DiskFileSystem.unsupported("gathering write");
    }

    @Override
    public long transferTo(long from, long count, WritableByteChannel target) {
        throw DiskFileSystem.unsupported("transferTo");
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long to, long count) {
        throw DiskFileSystem.unsupported("transferFrom");
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long from, long size) {
        throw DiskFileSystem.unsupported("mapped memory");
    }

    @Override
    public FileLock lock(long from, long size, boolean isShared) {
        throw DiskFileSystem.unsupported("lock that waits");
    }
}
