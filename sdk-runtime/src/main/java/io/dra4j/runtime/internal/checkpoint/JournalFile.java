// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.runtime.internal.checkpoint.JournalFormat.Entry;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The journal's file: lines are appended and synced, or all of it is replaced by one rename.
 *
 * <p>Not thread-safe, and not to be used by a thread that may be interrupted: an interrupt would
 * close the channel.
 */
final class JournalFile implements Closeable {

    /** Records hold what providers keep about claims. */
    static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private static final String NEXT = ".new";

    private final Path path;
    private final Sync sync;
    private FileChannel channel;
    private long length; // of the intact lines; what is beyond is a torn append

    private JournalFile(Path path, FileChannel channel, long length, Sync sync) {
        this.path = path;
        this.sync = sync;
        this.channel = channel;
        this.length = length;
    }

    /** Brings what a channel wrote to the disk: {@link FileChannel#force}. */
    interface Sync {
        void force(FileChannel channel, boolean metadata) throws IOException;
    }

    /**
     * What a file held: intact entries in order, and the lines that are damaged.
     *
     * @param tornLength how many bytes follow the last line feed: the start of a line that a crash
     *     kept from its end
     */
    record Content(List<Entry> entries, List<byte[]> damaged, long intactLength, int tornLength) {}

    /** Reads a file; one that is not there is empty, and one that is no file is an error. */
    static Content read(Path path) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw new FileSystemException(path.toString(), null, "not a regular file");
        }
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(path);
        } catch (NoSuchFileException e) {
            bytes = new byte[0];
        }
        List<Entry> entries = new ArrayList<>();
        List<byte[]> damaged = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == '\n') {
                byte[] line = Arrays.copyOfRange(bytes, start, i);
                Entry entry = JournalFormat.decode(line);
                if (entry == null) {
                    damaged.add(line);
                } else {
                    entries.add(entry);
                }
                start = i + 1;
            }
        }
        return new Content(entries, damaged, start, bytes.length - start);
    }

    /** Opens a file whose intact lines end at a position, and cuts what is beyond. */
    static JournalFile open(Path path, long intactLength, Sync sync) throws IOException {
        Files.deleteIfExists(path.resolveSibling(path.getFileName() + NEXT));
        FileChannel channel =
                FileChannel.open(
                        path,
                        Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                        OWNER_ONLY);
        JournalFile file = new JournalFile(path, channel, intactLength, sync);
        try {
            if (channel.size() > intactLength) {
                channel.truncate(intactLength);
                sync.force(channel, true);
            }
            return file;
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    /** Appends whole lines, which are durable on return; if it throws, none of them counts. */
    void append(byte[] lines) throws IOException {
        if (channel.size() != length) { // an earlier append was torn, and could not be cut
            channel.truncate(length);
        }
        try {
            write(channel, lines, length);
            sync.force(channel, false);
        } catch (IOException e) {
            cutAfterFailure(e);
            throw e;
        }
        length += lines.length;
    }

    /** Keeps a line whose caller was told of a failure from being in force after a restart. */
    private void cutAfterFailure(IOException cause) {
        try {
            channel.truncate(length);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    /** Replaces the whole file; it is durable on return. */
    void replace(List<Entry> entries) throws IOException {
        byte[] bytes = bytes(entries);
        Path next = path.resolveSibling(path.getFileName() + NEXT);
        Files.deleteIfExists(next);
        JournalFile written = open(next, 0, sync);
        try {
            write(written.channel, bytes, 0);
            sync.force(written.channel, true);
            Files.move(next, path, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            written.close();
            discard(next, e);
            throw e;
        }
        channel.close();
        channel = written.channel;
        length = bytes.length;
        syncDirectory();
    }

    /** A full disk is no place for the half of a file. */
    private static void discard(Path file, IOException cause) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    private void syncDirectory() throws IOException {
        Path directory = path.toAbsolutePath().getParent();
        try (FileChannel entries = FileChannel.open(directory, StandardOpenOption.READ)) {
            sync.force(entries, true);
        }
    }

    private static byte[] bytes(List<Entry> entries) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        entries.forEach(entry -> bytes.writeBytes(JournalFormat.encode(entry)));
        return bytes.toByteArray();
    }

    private static void write(FileChannel channel, byte[] bytes, long position) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(bytes);
        while (left.hasRemaining()) {
            channel.write(left, position + left.position());
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
