// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.JournalFile.Content;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Entry;
import io.dra4j.runtime.internal.observe.LogField;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Remembers claims across crashes: what {@link #put} or {@link #forget} returned from is durable.
 *
 * <p>The file only grows, by one line for each call; calls that come together are written together
 * and share one sync. When it holds far more lines than claims it is replaced by one that holds the
 * claims alone. A line that a crash tore at the end is cut; other damaged lines are moved to a file
 * beside it, and intact lines stay in force. If a write fails, the call throws, what the journal
 * says is unchanged, and later calls try the disk again.
 *
 * <p>Thread-safe. Once open, all file access is on one thread that nobody interrupts; callers wait
 * for it, and their own interrupts leave the file alone.
 */
public final class Journal implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Journal.class);
    private static final Set<StandardOpenOption> QUARANTINE_OPTIONS =
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND, StandardOpenOption.SYNC);
    private static final int LINES_WORTH_COMPACTING = 1000;

    private final Path path;
    private final String bootId;
    private final Map<String, ClaimRecord> claims = new LinkedHashMap<>(); // guarded by itself
    private final BlockingQueue<Write> writes = new LinkedBlockingQueue<>();
    private final Thread writer;
    private boolean closed; // guarded by writes
    private final JournalFile file; // the writer's, once it runs
    private int lines; // the writer's
    private int linesWorthCompacting = LINES_WORTH_COMPACTING; // the writer's

    private Journal(Path path, String bootId, JournalFile file, Content content) {
        this.path = path;
        this.bootId = bootId;
        this.file = file;
        this.lines = content.entries().size();
        content.entries().forEach(this::apply);
        this.writer = new Thread(this::writeAll, "dra4j-journal");
        writer.setDaemon(true);
    }

    /**
     * Opens a journal, and makes it if there is none.
     *
     * @param bootId the id of the node's present boot
     * @throws DraException if the file can't be read or written, or was written in a later format
     */
    public static Journal open(Path path, String bootId) {
        return open(path, bootId, FileChannel::force);
    }

    static Journal open(Path path, String bootId, JournalFile.Sync sync) {
        try {
            Content content = JournalFile.read(path);
            requireKnownFormat(path, content);
            if (!content.damaged().isEmpty()) {
                quarantine(path, content.damaged());
            }
            if (content.tornLength() > 0) {
                LOG.atWarn()
                        .addKeyValue(LogField.PATH.toString(), path)
                        .log(
                                "The last line of the journal was torn by a crash and is cut; the"
                                        + " call that wrote it had not returned");
            }
            JournalFile file = JournalFile.open(path, content.intactLength(), sync);
            Journal journal = new Journal(path, bootId, file, content);
            if (content.entries().isEmpty() || !content.damaged().isEmpty()) {
                journal.compact();
            }
            journal.writer.start();
            return journal;
        } catch (IOException e) {
            throw new DraException(
                    "Can't open the journal "
                            + path
                            + " ("
                            + e
                            + "); the directory must exist and be writable",
                    e);
        }
    }

    /** Returns the id of the node's present boot. */
    public String bootId() {
        return bootId;
    }

    /** Returns the claims that are in force, in the order in which they were first put. */
    public List<ClaimRecord> claims() {
        synchronized (claims) {
            return List.copyOf(claims.values());
        }
    }

    /** Returns a claim that is in force. */
    public Optional<ClaimRecord> claim(String uid) {
        synchronized (claims) {
            return Optional.ofNullable(claims.get(uid));
        }
    }

    /**
     * Sets the record of a claim, durably.
     *
     * @throws DraException if it can't be written; the record is as it was before
     */
    public void put(ClaimRecord claim) {
        write(Entry.put(claim));
    }

    /**
     * Removes the record of a claim, durably.
     *
     * @throws DraException if it can't be written; the record is as it was before
     */
    public void forget(String uid) {
        write(Entry.forget(uid));
    }

    /** Waits for the writes that were asked for, and closes the file. */
    @Override
    public void close() {
        CompletableFuture<Void> done;
        synchronized (writes) {
            if (closed) {
                return;
            }
            done = submit(null);
            closed = true;
        }
        done.join();
    }

    private CompletableFuture<Void> submit(@Nullable Entry entry) {
        CompletableFuture<Void> durable = new CompletableFuture<>();
        synchronized (writes) {
            if (closed) {
                throw new DraException(
                        "The journal " + path + " is closed: the driver has stopped");
            }
            writes.add(new Write(entry, durable));
        }
        return durable;
    }

    private void write(Entry entry) {
        try {
            submit(entry).join();
        } catch (CompletionException e) {
            throw new DraException(
                    "Can't write the journal "
                            + path
                            + " ("
                            + e.getCause().getMessage()
                            + "); free or repair the disk, then try again",
                    e.getCause());
        }
    }

    private void writeAll() {
        boolean open = true;
        while (open) {
            List<Write> batch = new ArrayList<>();
            batch.add(next());
            writes.drainTo(batch);
            open = batch.stream().noneMatch(Write::isEnd);
            append(batch.stream().filter(write -> !write.isEnd()).toList());
            if (!open) {
                closeFile();
                batch.stream().filter(Write::isEnd).forEach(write -> write.durable.complete(null));
            }
        }
    }

    private Write next() {
        while (true) {
            try {
                return writes.take();
            } catch (InterruptedException e) {
                LOG.debug("The journal's thread is not to be interrupted; it goes on", e);
            }
        }
    }

    private void append(List<Write> batch) {
        try {
            ByteArrayOutputStream together = new ByteArrayOutputStream();
            batch.forEach(write -> together.writeBytes(write.line));
            file.append(together.toByteArray());
            lines += batch.size();
            batch.forEach(write -> apply(write.entry));
            batch.forEach(write -> write.durable.complete(null));
        } catch (IOException e) {
            batch.forEach(write -> write.durable.completeExceptionally(e));
        }
        compactIfWorthIt();
    }

    private void compactIfWorthIt() {
        if (lines <= linesWorthCompacting || lines <= 4 * claims().size()) {
            return;
        }
        try {
            compact();
            linesWorthCompacting = LINES_WORTH_COMPACTING;
        } catch (IOException e) {
            linesWorthCompacting = lines + LINES_WORTH_COMPACTING; // not again at the next line
            LOG.atWarn()
                    .addKeyValue(LogField.PATH.toString(), path)
                    .log("The journal was not compacted; it grows until it can be", e);
        }
    }

    private void compact() throws IOException {
        List<Entry> entries = new ArrayList<>();
        entries.add(Entry.header());
        claims().forEach(claim -> entries.add(Entry.put(claim)));
        file.replace(entries);
        lines = entries.size();
    }

    private void apply(@Nullable Entry entry) {
        synchronized (claims) {
            if (entry == null) {
                return;
            }
            if (entry.put() != null) {
                claims.put(entry.put().ref().uid(), entry.put());
            } else if (entry.forget() != null) {
                claims.remove(entry.forget());
            }
        }
    }

    private void closeFile() {
        try {
            if (claims().isEmpty()) {
                compact();
            }
            file.close();
        } catch (IOException e) {
            LOG.atWarn()
                    .addKeyValue(LogField.PATH.toString(), path)
                    .log(
                            "The journal was not closed well; what it says is durable all the same",
                            e);
        }
    }

    private static void requireKnownFormat(Path path, Content content) {
        for (Entry entry : content.entries()) {
            Integer version = entry.version();
            if (version != null && version > JournalFormat.VERSION) {
                throw new DraException(
                        "The journal "
                                + path
                                + " has format version "
                                + version
                                + ", this release reads up to "
                                + JournalFormat.VERSION
                                + "; run the release that wrote it, or unprepare all claims with"
                                + " it first");
            }
        }
    }

    private static void quarantine(Path path, List<byte[]> damaged) throws IOException {
        Path beside = path.resolveSibling(path.getFileName() + ".damaged");
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        for (byte[] line : damaged) {
            lines.writeBytes(line);
            lines.write('\n');
        }
        try (FileChannel channel =
                FileChannel.open(beside, QUARANTINE_OPTIONS, JournalFile.OWNER_ONLY)) {
            ByteBuffer left = ByteBuffer.wrap(lines.toByteArray());
            while (left.hasRemaining()) {
                channel.write(left);
            }
        }
        LOG.atError()
                .addKeyValue(LogField.PATH.toString(), beside)
                .log(
                        "{} lines of the journal were damaged and moved aside; their claims may be"
                                + " unknown to the driver",
                        damaged.size());
    }

    /** A line to write; one without an entry ends the journal. */
    private record Write(@Nullable Entry entry, byte[] line, CompletableFuture<Void> durable) {

        /** Encodes on the caller's thread. */
        Write(@Nullable Entry entry, CompletableFuture<Void> durable) {
            this(entry, entry == null ? new byte[0] : JournalFormat.encode(entry), durable);
        }

        boolean isEnd() {
            return entry == null;
        }
    }
}
