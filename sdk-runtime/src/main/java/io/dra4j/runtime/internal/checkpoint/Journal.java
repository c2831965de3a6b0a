// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.BootId.BootMark;
import io.dra4j.runtime.internal.checkpoint.JournalFile.Reserve;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Entry;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Line;
import io.dra4j.runtime.internal.checkpoint.LineReader.Piece;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores claims across crashes: a record is durable once {@link #put} has returned.
 *
 * <p>The file only grows, by one line for each call; concurrent calls are written together and share one sync. When it
 * holds far more than its claims need, it is replaced by one that holds only the claims. If a write fails, the call
 * throws, the journal's content is unchanged, and later calls try the disk again. While the disk is full, claims can
 * still be unprepared until a {@linkplain Reserve reserve} is used up.
 *
 * <p>Several processes may have one journal open, and each sees what the others wrote: they write one at a time, and
 * check before each write how the file has changed.
 *
 * <p>A damaged journal can still be opened. A line that a crash tore at the end is ignored.
 * Where other lines are damaged or gone, the claims that they were about are held as {@code DAMAGED}, with the devices
 * of their last intact record; {@link #loss} lists them, and whether the list is complete. Intact lines after the
 * damage are valid.
 *
 * <p>Thread-safe. All file access is on one thread that is never interrupted; callers wait for it, and their interrupts
 * do not affect the file.
 */
@SuppressWarnings("try") // locks are held, but not used
public final class Journal implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Journal.class);
    private static final Duration GROUP_TIMEOUT = Duration.ofMillis(20);
    private static final Duration LONGEST_END = Duration.ofSeconds(2);

    private final JournalStore.Place place;
    private final CommittedClaims committed;
    private final JournalStore store;
    private List<Request> requests = new ArrayList<>(); // guarded by this
    private boolean isClosed; // guarded by this
    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    private Journal(JournalStore.Place place) {
        this.place = place;
        this.committed = new CommittedClaims(place.bootId());
        this.store = new JournalStore(place, committed);
        Thread thread = new Thread(this::run, "dra4j-journal");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Opens a journal, and creates it if it does not exist.
     *
     * @throws DraException if the file can't be read, or was written in a later format
     */
    public static Journal open(Path path, String bootId, LockFile locks, Meters meters) {
        return open(new JournalStore.Place(path, bootId, locks, meters, FileChannel::force));
    }

    /** Preloads what reading and writing a line needs, while a program reads its command line. */
    public static void load() {
        Entry header = Entry.header(false);
        JournalFormat.decode(JournalFormat.line(new LineNumber(1, 0), header, JournalFormat.encode(header)));
    }

    static Journal open(JournalStore.Place place) {
        Journal journal = new Journal(place);
        try {
            journal.catchUp();
            return journal;
        } catch (RuntimeException | Error e) {
            journal.close();
            throw e;
        }
    }

    /**
     * Prints a journal for people, without changing it; a driver may be using it.
     *
     * @return how many lines are damaged or missing
     * @throws DraException if it can't be read, or was written in a later format
     */
    public static long inspect(Path path, PrintStream out) {
        return reading(path, () -> JournalTable.print(path, out));
    }

    /**
     * Reads a journal, without changing it; a driver may be using it.
     *
     * @return no claims if there is no file
     * @throws DraException if it can't be read, or was written in a later format
     */
    public static JournalReading read(Path path, String bootId) {
        return reading(path, () -> JournalReading.of(path, bootId));
    }

    private interface Reading<T> {
        T run() throws IOException;
    }

    private static <T> T reading(Path path, Reading<T> reading) {
        try {
            return reading.run();
        } catch (IOException e) {
            throw new DraException("Can't read the journal " + path + " (" + e + ")", e);
        } catch (DraException e) {
            throw new DraException("Can't read the journal " + path + ": " + e.getMessage(), e);
        }
    }

    public String bootId() {
        return place.bootId();
    }

    /** Returns the mark next to this journal, for a single object, which keeps it. */
    public BootMark bootMark() {
        return new BootMark(place);
    }

    /**
     * Returns the committed claims that are not prepared in this boot, or that the kubelet never
     * asks to unprepare; cheap, even with many claims.
     */
    public List<ClaimRecord> unsettled() {
        return current().unsettled();
    }

    /**
     * Returns the committed claims, in the order in which they were first put.
     *
     * @throws DraException if what another process wrote can't be read
     */
    public List<ClaimRecord> claims() {
        return current().list();
    }

    /**
     * Returns a claim that is committed.
     *
     * @throws DraException if what another process wrote can't be read
     */
    public Optional<ClaimRecord> claim(String uid) {
        return current().claim(uid);
    }

    /** Returns the loss that was found when the journal was read. */
    public JournalLoss loss() {
        return store.loss();
    }

    /**
     * Records that the claims that a loss does not name have been searched for, and put.
     *
     * <p>Until then, {@link JournalLoss#complete} is false again whenever the journal is opened.
     *
     * @throws DraException if it can't be written
     */
    public void foundAll() {
        write(Write.foundAll());
    }

    /**
     * Sets the record of a claim, durably.
     *
     * @throws DraException if it can't be written; the record is as it was before
     */
    public void put(ClaimRecord claim) {
        write(Write.put(claim, committed -> {}));
    }

    /**
     * Removes the record of a claim that was put as UNPREPARING.
     *
     * <p>A crash of the process does not bring it back. A power failure may, until the next put, whose sync includes
     * it.
     *
     * @throws DraException if it can't be written; the record is as it was before
     */
    public void forget(String uid) {
        write(Write.forget(uid));
    }

    /** Begins a group of claims whose writes share syncs; the claims are named by their UIDs. */
    public WriteGroup group(Set<String> uids) {
        return group(uids, GROUP_TIMEOUT);
    }

    /**
     * Begins a group of claims whose writes share syncs.
     *
     * @param timeout how long a write waits for those of the other claims
     */
    public WriteGroup group(Set<String> uids, Duration timeout) {
        return new WriteGroup(this::submit, this::await, uids, timeout);
    }

    /** Waits for the writes that were submitted, and closes the file; a disk that hangs is left to its thread. */
    @Override
    public void close() {
        synchronized (this) {
            isClosed = true;
            notifyAll();
        }
        CompletableFuture.anyOf(ended, ShortLivedThreads.after(LONGEST_END.toNanos()))
                .join();
        if (!ended.isDone()) {
            LOG.atWarn().addKeyValue(LogField.PATH, place.path()).log("The journal's disk hangs; closing without it");
        }
    }

    private CommittedClaims current() {
        if (!store.isCurrent()) {
            catchUp();
        }
        return committed;
    }

    private void catchUp() {
        await("read", submit(List.of()));
    }

    private void write(Write write) {
        submit(List.of(write));
        await(write);
    }

    /**
     * Submits writes that should share a sync.
     *
     * @return completed after that; each write has its own result
     */
    private CompletableFuture<Void> submit(List<Write> together) {
        Request request = new Request(together, new CompletableFuture<>());
        synchronized (this) {
            if (!isClosed) {
                requests.add(request);
                notifyAll();
                return request.done;
            }
        }
        request.fail(new DraException("The journal is closed: the driver has stopped"));
        return request.done;
    }

    private void await(Write write) {
        await("write", write.durable());
    }

    private void await(String what, CompletableFuture<Void> done) {
        try {
            done.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException refused) {
                throw refused;
            }
            String next = e.getCause() instanceof IOException
                    ? "; check that its directory exists and is writable, and that the disk works and has space"
                    : "; please report this as a dra4j bug";
            throw new DraException(
                    "Can't %s the journal %s (%s)%s".formatted(what, place.path(), e.getCause(), next), e.getCause());
        }
    }

    private record Request(List<Write> writes, CompletableFuture<Void> done) {
        void fail(Throwable cause) {
            writes.forEach(write -> write.fail(cause));
            done.completeExceptionally(cause);
        }
    }

    /** The journal's thread: it survives all failures, and reports them to those who wait. */
    private void run() {
        List<Request> batch = next();
        while (!batch.isEmpty()) {
            try (LockFile.Held ignored = place.locks().journal()) {
                store.write(batch.stream()
                        .flatMap(request -> request.writes.stream())
                        .toList());
                batch.forEach(request -> request.done.complete(null));
            } catch (IOException | RuntimeException | Error e) {
                batch.forEach(request -> request.fail(e));
            }
            batch = next();
        }
        try (LockFile.Held ignored = place.locks().journal()) {
            store.end();
        } finally {
            ended.complete(null);
        }
    }

    /** Waits for requests, and returns all of them; an empty list once it is closed. */
    private synchronized List<Request> next() {
        while (requests.isEmpty() && !isClosed) {
            try {
                wait();
            } catch (InterruptedException e) {
                // unexpected; the interrupt flag would close the files, and is cleared now
            }
        }
        List<Request> all = requests;
        requests = new ArrayList<>();
        return all;
    }

    /**
     * Prints a journal's content, one row per line, including damaged lines.
     *
     * <p>It only reads, and takes no lock, so that it can read the journal of a running driver;
     * the driver may be in the middle of a line. Of a damaged line only UIDs are printed.
     */
    private static final class JournalTable {

        private static final String ROW = "%-9s %-11s %-36s %-32s %-36s %-6s %s%n";

        private final PrintStream out;
        private @Nullable LineNumber last;
        private long wrong;
        private int pieces; // damaged ones, since the last intact line

        private JournalTable(PrintStream out) {
            this.out = out;
        }

        /** Prints a journal, and returns how many lines are damaged or missing. */
        static long print(Path file, PrintStream out) throws IOException {
            JournalTable table = new JournalTable(out);
            out.printf(ROW, "FILE.LINE", "PHASE", "UID", "CLAIM", "BOOT", "STATE", "DEVICES");
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                LineReader reader = new LineReader(channel, 0);
                for (Piece piece = reader.next(); piece != null; piece = reader.next()) {
                    table.print(piece);
                }
            }
            table.wrong += table.pieces;
            return table.wrong;
        }

        private void print(Piece piece) {
            if (piece.bytes().length == 0) {
                return;
            }
            Line line = JournalFormat.decode(piece.bytes());
            if (line != null) {
                countMissing(line.number());
                print(line);
            } else if (piece.isEnded()) {
                pieces++;
                CorruptedLines corrupted = new CorruptedLines();
                corrupted.add(piece.bytes());
                out.printf(ROW, "?", "(damaged)", String.join(",", corrupted.uids()), "", "", "", "");
            } else {
                out.printf(ROW, "?", "(torn)", "", "", "", "", "");
            }
        }

        private void countMissing(LineNumber number) {
            LineNumber before = last == null ? new LineNumber(number.file(), -1) : last;
            long missing = number.file() == before.file() ? number.line() - before.line() - 1 : number.line();
            if (missing > pieces) {
                out.printf(ROW, "?", "(missing)", (missing - pieces) + " lines", "", "", "", "");
            }
            wrong += Math.max(missing, pieces);
            pieces = 0;
            last = number;
        }

        private void print(Line line) {
            String number = line.file() + "." + line.line();
            Entry entry = line.record();
            ClaimRecord claim = entry.put();
            if (claim != null) {
                out.printf(
                        ROW,
                        number,
                        claim.phase(),
                        claim.ref().uid(),
                        claim.ref().namespace() + "/" + claim.ref().name(),
                        claim.bootId(),
                        claim.state() == null ? "-" : claim.state().rawJson().length(),
                        claim.devices().stream().map(JournalTable::text).collect(Collectors.joining(",")));
            } else if (entry.forget() != null) {
                out.printf(ROW, number, "(forgotten)", entry.forget(), "", "", "", "");
            } else if (entry.found() != null) {
                out.printf(ROW, number, "(found)", "lost claims were searched for", "", "", "", "");
            } else {
                String version = "format version " + entry.version();
                String lost = entry.isComplete(true) ? "" : "claims were lost";
                out.printf(ROW, number, "(header)", version, lost, "", "", "");
            }
        }

        private static String text(HeldDevice device) {
            return device.pool() + "/" + device.device();
        }
    }
}
