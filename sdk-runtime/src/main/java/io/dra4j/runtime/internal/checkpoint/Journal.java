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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
@SuppressWarnings("try") // locks are held, and not looked at
public final class Journal implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Journal.class);
    private static final Set<StandardOpenOption> QUARANTINE_OPTIONS =
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND, StandardOpenOption.SYNC);
    private static final Duration GROUP_PATIENCE = Duration.ofMillis(20);
    private static final List<Write> END = new ArrayList<>();
    private static final int LINES_WORTH_COMPACTING = 1000;

    private final Path path;
    private final String bootId;
    private final Map<String, ClaimRecord> claims = new LinkedHashMap<>(); // guarded by itself
    private final BlockingQueue<List<Write>> writes = new LinkedBlockingQueue<>();
    private final Thread writer;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final LockFile locks;
    private final JournalMeter meter;
    private final Loss loss;
    private boolean closed; // guarded by writes
    private final JournalFile file; // the writer's, once it runs
    private Map<String, ClaimRecord> ahead; // the writer's: claims, and what it is writing
    private int lines; // the writer's
    private int linesWorthCompacting = LINES_WORTH_COMPACTING; // the writer's

    private Journal(
            Path path,
            String bootId,
            LockFile locks,
            JournalMeter meter,
            JournalFile file,
            Content content) {
        this.locks = locks;
        this.meter = meter;
        this.loss =
                new Loss(
                        content.tornLength() > 0,
                        content.damaged().size(),
                        Set.of(),
                        content.damaged().isEmpty());
        this.path = path;
        this.bootId = bootId;
        this.file = file;
        this.lines = content.entries().size();
        content.entries().forEach(entry -> apply(claims, entry));
        this.ahead = new LinkedHashMap<>(claims);
        this.writer = new Thread(this::writeAll, "dra4j-journal");
        writer.setDaemon(true);
    }

    /**
     * Opens a journal, and makes it if there is none.
     *
     * @param bootId the id of the node's present boot
     * @param locks keep away the other processes of the driver
     * @throws DraException if the file can't be read or written, or was written in a later format
     */
    public static Journal open(Path path, String bootId, LockFile locks) {
        return open(path, bootId, locks, JournalMeter.NONE);
    }

    /**
     * Opens a journal, and makes it if there is none.
     *
     * @param bootId the id of the node's present boot
     * @param locks keep away the other processes of the driver
     * @param meter hears how the journal fares
     * @throws DraException if the file can't be read or written, or was written in a later format
     */
    public static Journal open(Path path, String bootId, LockFile locks, JournalMeter meter) {
        return open(path, bootId, locks, meter, FileChannel::force);
    }

    static Journal open(
            Path path, String bootId, LockFile locks, JournalMeter meter, JournalFile.Sync sync) {
        try (LockFile.Held ignored = locks.journal()) {
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
            Journal journal = new Journal(path, bootId, locks, meter, file, content);
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

    /** Returns what was missing when the journal was read. */
    public Loss loss() {
        return loss;
    }

    /**
     * Sets the record of a claim, durably.
     *
     * @throws DraException if it can't be written; the record is as it was before
     */
    public void put(ClaimRecord claim) {
        put(claim, Check.NONE);
    }

    /**
     * Sets the record of a claim, durably, if a check of the claims in force allows it.
     *
     * <p>Check and write are one step: no process and no thread writes between them.
     *
     * @throws DraException if it can't be written; the record is as it was before
     */
    public void put(ClaimRecord claim, Check check) {
        write(Write.put(claim, check));
    }

    /**
     * Removes the record of a claim, durably.
     *
     * @throws DraException if it can't be written; the record is as it was before
     */
    public void forget(String uid) {
        write(Write.forget(uid));
    }

    /** Begins a group of claims whose writes share syncs; the claims are named by their UIDs. */
    public WriteGroup group(Set<String> uids) {
        return new WriteGroup(this, uids, GROUP_PATIENCE);
    }

    /** Looks at the claims in force before a write, and throws if the write must not be. */
    @FunctionalInterface
    public interface Check {

        /** Allows any write. */
        Check NONE = inForce -> {};

        /**
         * Checks the claims in force; the record that the write replaces is among them.
         *
         * <p>It runs on the journal's own thread and must be quick; writes wait for it.
         *
         * @param inForce the claims, a view that is not to be kept
         * @throws RuntimeException to refuse the write; the caller gets it as it is
         */
        void check(Collection<ClaimRecord> inForce);
    }

    /** Waits for the writes that were asked for, and closes the file. */
    @Override
    public void close() {
        synchronized (writes) {
            if (!closed) {
                writes.add(END);
                closed = true;
            }
        }
        ended.join();
    }

    private void write(Write write) {
        submit(List.of(write));
        await(write);
    }

    /** Hands over writes that are to share a sync. */
    void submit(List<Write> together) {
        synchronized (writes) {
            if (!closed) {
                writes.add(together);
                return;
            }
        }
        DraException stopped =
                new DraException("The journal " + path + " is closed: the driver has stopped");
        together.forEach(write -> write.durable.completeExceptionally(stopped));
    }

    /** Waits until a write that was handed over is durable. */
    void await(Write write) {
        try {
            write.durable.join();
        } catch (CompletionException e) {
            throw failure(e.getCause());
        }
    }

    private RuntimeException failure(Throwable cause) {
        if (cause instanceof IOException) {
            return new DraException(
                    "Can't write the journal "
                            + path
                            + " ("
                            + cause.getMessage()
                            + "); free or repair the disk, then try again",
                    cause);
        }
        if (cause instanceof RuntimeException refused) {
            return refused;
        }
        return new DraException("Can't write the journal " + path + ": " + cause, cause);
    }

    private void writeAll() {
        boolean open = true;
        while (open) {
            List<List<Write>> turns = new ArrayList<>();
            turns.add(next());
            writes.drainTo(turns);
            open = turns.stream().noneMatch(turn -> turn == END);
            List<Write> batch = turns.stream().flatMap(List::stream).toList();
            try (LockFile.Held ignored = locks.journal()) {
                append(batch.stream().filter(this::isAllowed).toList());
                if (!open) {
                    closeFile();
                }
            } catch (RuntimeException | Error e) { // whoever waits must hear of it
                batch.forEach(write -> write.durable.completeExceptionally(e));
            }
        }
        ended.complete(null);
    }

    private List<Write> next() {
        while (true) {
            try {
                return writes.take();
            } catch (InterruptedException e) {
                LOG.debug("The journal's thread is not to be interrupted; it goes on", e);
            }
        }
    }

    private boolean isAllowed(Write write) {
        try {
            write.check.check(Collections.unmodifiableCollection(ahead.values()));
            apply(ahead, write.entry);
            return true;
        } catch (RuntimeException | Error e) {
            write.durable.completeExceptionally(e);
            return false;
        }
    }

    private void append(List<Write> batch) {
        try {
            if (!batch.isEmpty()) {
                ByteArrayOutputStream together = new ByteArrayOutputStream();
                batch.forEach(write -> together.writeBytes(write.line));
                long begin = System.nanoTime();
                file.append(together.toByteArray());
                meter.synced(Duration.ofNanos(System.nanoTime() - begin));
            }
            lines += batch.size();
            synchronized (claims) {
                batch.forEach(write -> apply(claims, write.entry));
            }
            meter.claims(ahead.size());
            batch.forEach(write -> write.durable.complete(null));
        } catch (IOException e) {
            ahead = new LinkedHashMap<>(claims);
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

    private static void apply(Map<String, ClaimRecord> claims, Entry entry) {
        if (entry.put() != null) {
            claims.put(entry.put().ref().uid(), entry.put());
        } else if (entry.forget() != null) {
            claims.remove(entry.forget());
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

    /** A line to write. */
    record Write(
            String uid, Entry entry, byte[] line, Check check, CompletableFuture<Void> durable) {

        static Write put(ClaimRecord claim, Check check) {
            return of(claim.ref().uid(), Entry.put(claim), check);
        }

        static Write forget(String uid) {
            return of(uid, Entry.forget(uid), Check.NONE);
        }

        private static Write of(String uid, Entry entry, Check check) {
            return new Write(
                    uid, entry, JournalFormat.encode(entry), check, new CompletableFuture<>());
        }

        boolean isDoneWithin(Duration time) {
            try {
                durable.get(time.toNanos(), TimeUnit.NANOSECONDS);
                return true;
            } catch (ExecutionException e) {
                return true;
            } catch (TimeoutException e) {
                return false;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // no reason to leave a write half done
                return false;
            }
        }
    }
}
