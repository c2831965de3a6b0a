// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.JournalFile.Reserve;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Entry;
import io.dra4j.runtime.internal.checkpoint.LineReader.Piece;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.observe.Meters;
import io.dra4j.runtime.internal.observe.Metric;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A journal on the disk, used by the thread that owns it, and only while it holds the journal's lock.
 *
 * <p>Each write first reconciles memory and file: lines that another process appended are replayed, a file that it
 * replaced is read from its start. A file that was removed or truncated is written again from memory. Then the records
 * are written with one sync, unless none of them needs it; they are committed after that; if it fails, none is.
 * A file that holds far more than its claims is compacted.
 *
 * <p>Damaged lines are kept {@linkplain Quarantine next to the file} before the file is compacted. If that is not
 * possible the file stays as it is, and grows; the next reader finds the same damage.
 */
final class JournalStore {

    private static final Logger LOG = LoggerFactory.getLogger(JournalStore.class);

    private final Place place;
    private final CommittedClaims committed;
    private final Reserve reserve;
    private final Quarantine quarantine;
    private final CompactionPolicy compaction = new CompactionPolicy();
    private final ByteArrayOutputStream damaged = new ByteArrayOutputStream(); // not yet kept
    private @Nullable JournalFile file;
    private ClaimIndex ahead = new ClaimIndex(); // committed, and what is being written
    private LineNumber last = LineNumber.NONE;
    private boolean isEnded = true; // whether a line feed ends the last line
    private volatile JournalLoss loss = JournalLoss.NONE;
    private volatile @Nullable Seen seen;
    private volatile long fileSize;

    JournalStore(Place place, CommittedClaims committed) {
        this.place = place;
        this.committed = committed;
        this.reserve = Reserve.of(place.path);
        this.quarantine = Quarantine.of(place.path);
        place.meters.watch(Metric.JOURNAL_SIZE, () -> fileSize);
        place.meters.count(Metric.JOURNAL_DAMAGED_LINES, 0);
    }

    /**
     * The location of a journal, and the parts that it works with.
     *
     * @param bootId the id of the node's current boot
     */
    record Place(Path path, String bootId, LockFile locks, Meters meters, JournalFile.Sync sync) {}

    /** The file as it was last seen; while a write runs, it may have any size between the two. */
    private record Seen(Object inode, long from, long to) {}

    /** Returns whether the file is as this object left it. May be called on any thread. */
    boolean isCurrent() {
        Seen left = seen;
        try {
            BasicFileAttributes now = attributes();
            return left != null && left.inode.equals(now.fileKey()) && left.from <= now.size() && now.size() <= left.to;
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the loss that was found when the file was read. May be called on any thread. */
    JournalLoss loss() {
        return loss;
    }

    private BasicFileAttributes attributes() throws IOException {
        return Files.readAttributes(place.path, BasicFileAttributes.class);
    }

    /** Reads new lines of the file, and writes; each write gets its own result, unless this throws. */
    void write(List<Write> writes) throws IOException {
        try {
            JournalFile current = catchUp();
            if (!writes.isEmpty()) {
                write(current, writes);
            }
            if (current.isOpen()) {
                compactIfDue(current);
                look(current);
            } else {
                forget();
            }
        } catch (RuntimeException | Error e) {
            forget();
            throw e;
        }
    }

    /** Makes the next write read the file from its start: its content is unknown. */
    private void forget() {
        if (file != null) {
            file.close();
            file = null;
        }
        seen = null;
    }

    /** Closes the file; a journal without claims is compacted first. */
    void end() {
        if (file == null) {
            return;
        }
        try {
            JournalFile current = catchUp();
            if (ahead.all().isEmpty() && compaction.lines() > 1) {
                compact(current);
            }
        } catch (IOException e) {
            warn("Failed to close the journal; committed records are durable", e);
        } finally {
            forget();
        }
    }

    /** Notes the size of the file, which may have been truncated since the write returned. */
    private void look(JournalFile current) throws IOException {
        long size = Math.max(current.size(), current.end());
        seen = new Seen(current.inode(), size, size);
        fileSize = size;
    }

    private JournalFile catchUp() throws IOException {
        JournalFile known = file;
        if (known == null) {
            return load();
        }
        Seen left = seen;
        BasicFileAttributes now = attributesIfThere();
        if (now != null && !now.fileKey().equals(known.inode())) {
            known.close();
            return load();
        }
        if (now == null || now.size() < known.end()) {
            if (place.locks.lastLine().compareTo(last) > 0) {
                known.close();
                return load(); // another process knows more than this one's memory
            }
            LOG.atWarn()
                    .addKeyValue(LogField.PATH, place.path)
                    .log("The journal was removed or truncated; it is written again from memory");
            compact(known);
        } else if (left == null || now.size() != left.to) {
            replay(known, new Replay(place.bootId, ahead.byUid(), last, known.end(), loss.complete()));
        }
        return known;
    }

    private @Nullable BasicFileAttributes attributesIfThere() throws IOException {
        try {
            return attributes();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private JournalFile load() throws IOException {
        JournalFile opened = JournalFile.open(place.path, place.sync);
        file = opened;
        compaction.reset();
        damaged.reset();
        try {
            replay(opened, new Replay(place.bootId));
            compaction.goOn(1 + ahead.all().size(), opened.end());
        } catch (IOException e) {
            forget();
            throw e;
        }
        orElseLater("Failed to sync the journal's directory; will try again", opened::syncName);
        orElseLater("Failed to reserve disk space for the journal", reserve::putBack);
        return opened;
    }

    private void replay(JournalFile from, Replay replay) throws IOException {
        LineNumber acknowledged = place.locks.lastLine();
        LineReader reader = from.reader(replay.end());
        try {
            for (Piece piece = reader.next(); piece != null; piece = reader.next()) {
                replay.take(piece, acknowledged);
            }
        } catch (DraException e) {
            throw new DraException("Can't read the journal " + place.path + ": " + e.getMessage(), e);
        }
        replay.end(acknowledged);
        adopt(from, replay);
    }

    private void adopt(JournalFile from, Replay replay) {
        ahead = ClaimIndex.of(replay.claims().values());
        last = replay.last();
        compaction.add(replay.lines());
        isEnded = replay.isEnded();
        from.endAt(replay.end());
        committed.replace(ahead.byUid());
        damaged.writeBytes(replay.damaged());
        boolean isNew = from.end() == 0;
        report(replay.loss());
        if (replay.loss().tornTail()) {
            orElseLater("Failed to remove the torn line; the next write removes it", from::cut);
        }
        if (isNew || replay.loss().isDamage()) {
            orElseLater("Failed to rewrite the journal; will try again", () -> compact(from));
        }
    }

    private void report(JournalLoss found) {
        loss = loss.then(found);
        if (found.tornTail()) {
            LOG.atWarn()
                    .addKeyValue(LogField.PATH, place.path)
                    .log("The last line of the journal was torn by a crash and is removed; the call"
                            + " that wrote it had not returned");
        }
        if (found.isDamage()) {
            place.meters.count(Metric.JOURNAL_DAMAGED_LINES, found.damagedLines());
            LOG.atError()
                    .addKeyValue(LogField.PATH, place.path)
                    .addKeyValue(LogField.CLAIM_UID, found.uids())
                    .log(
                            "Journal corrupted: {} lines damaged or missing; {} claims are held as damaged until they"
                                    + " are unprepared{}; the damaged lines are kept in {}",
                            found.damagedLines(),
                            found.uids().size(),
                            found.complete() ? "" : ", and more may be lost",
                            quarantine.path());
        }
    }

    private void write(JournalFile to, List<Write> writes) {
        List<Write> admitted = admitted(writes);
        try {
            append(to, admitted);
        } catch (IOException e) {
            ahead = ClaimIndex.of(committed.list());
            giveBack(to, releasing(admitted, e), e);
        }
    }

    /**
     * Returns the writes that are allowed, in order, and applies them to the pending state; the others fail.
     *
     * <p>Without a reserve on the disk, no claim is prepared that could not be unprepared. A write's own
     * check sees the claims as if the writes before it were durable.
     */
    private List<Write> admitted(List<Write> writes) {
        List<Write> admitted = new ArrayList<>();
        for (Write write : withRoom(writes)) {
            try {
                write.check().accept(ahead);
                ahead.apply(write.entry());
                admitted.add(write);
            } catch (RuntimeException | Error e) { // the caller's, unchanged
                write.fail(e);
            }
        }
        return admitted;
    }

    private List<Write> withRoom(List<Write> writes) {
        if (reserve.isThere() || writes.stream().allMatch(Write::releases)) {
            return writes;
        }
        try {
            reserve.putBack();
            return writes;
        } catch (IOException e) {
            return releasing(writes, e);
        }
    }

    /** Returns the writes that lead to free devices; the others fail. */
    private static List<Write> releasing(List<Write> writes, IOException cause) {
        writes.stream().filter(write -> !write.releases()).forEach(write -> write.fail(cause));
        return writes.stream().filter(Write::releases).toList();
    }

    /** Writes the records that release devices, with the disk space that is reserved for them. */
    private void giveBack(JournalFile to, List<Write> releasing, IOException cause) {
        if (releasing.isEmpty()) {
            return;
        }
        try {
            reserve.giveUp();
            releasing.forEach(write -> ahead.apply(write.entry()));
            append(to, releasing);
        } catch (IOException e) {
            ahead = ClaimIndex.of(committed.list());
            e.addSuppressed(cause);
            releasing.forEach(write -> write.fail(e));
        }
    }

    private void append(JournalFile to, List<Write> writes) throws IOException {
        if (writes.isEmpty()) {
            return;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        LineNumber number = begin(to, bytes);
        for (Write write : writes) {
            number = number.plus(1);
            bytes.writeBytes(JournalFormat.line(number, write.entry(), write.record()));
        }
        seen = new Seen(to.inode(), to.end(), to.end() + bytes.size());
        if (writes.stream().noneMatch(Write::isSynced)) {
            to.append(bytes.toByteArray(), false);
            last = number;
        } else {
            long start = System.nanoTime();
            to.append(bytes.toByteArray(), true);
            place.meters.time(Metric.JOURNAL_SYNCS, Duration.ofNanos(System.nanoTime() - start));
            acknowledge(number);
        }
        isEnded = true;
        compaction.add(writes.size());
        committed.apply(writes);
        if (writes.stream().anyMatch(write -> write.entry().found() != null)) {
            loss = loss.foundAll();
        }
        writes.forEach(write -> write.durable().complete(null));
    }

    /** Writes the header of an empty file, or the end of a line that has none. */
    private LineNumber begin(JournalFile to, ByteArrayOutputStream bytes) {
        if (to.end() == 0) {
            LineNumber header = last.nextFile();
            bytes.writeBytes(line(header, Entry.header(!loss.complete())));
            return header;
        }
        if (!isEnded) {
            bytes.write('\n');
        }
        return last;
    }

    private void acknowledge(LineNumber number) {
        last = number;
        orElseLater("Failed to store the number of the journal's last line", () -> place.locks.lastLine(number));
    }

    private void compactIfDue(JournalFile current) {
        if (compaction.isDue(current.end())) {
            compaction.postpone(current.end());
            orElseLater("Failed to compact the journal; it grows until compaction succeeds", () -> compact(current));
        }
    }

    /** Replaces the file by one with only the committed claims. */
    private void compact(JournalFile current) throws IOException {
        if (damaged.size() > 0) {
            quarantine.keep(damaged.toByteArray());
            damaged.reset();
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        LineNumber number = last.nextFile();
        bytes.writeBytes(line(number, Entry.header(!loss.complete())));
        for (ClaimRecord claim : ahead.all()) {
            number = number.plus(1);
            bytes.writeBytes(line(number, Entry.put(claim)));
        }
        current.replace(bytes.toByteArray());
        last = number;
        isEnded = true;
        compaction.startFrom(1 + ahead.all().size(), bytes.size());
        orElseLater("Failed to sync the journal's directory; will try again", () -> {
            current.syncName();
            acknowledge(last);
        });
    }

    private static byte[] line(LineNumber number, Entry entry) {
        return JournalFormat.line(number, entry, JournalFormat.encode(entry));
    }

    private interface Step {
        void run() throws IOException;
    }

    /** Runs a step whose failure the journal can tolerate for a while. */
    private void orElseLater(String otherwise, Step step) {
        try {
            step.run();
        } catch (IOException e) {
            warn(otherwise, e);
        }
    }

    private void warn(String what, IOException e) {
        LOG.atWarn().addKeyValue(LogField.PATH, place.path).log(what, e);
    }

    /**
     * The file next to a journal that keeps damaged lines, for people to inspect.
     *
     * <p>Lines are not kept twice, and the file does not grow beyond 2 MiB: a driver that repeatedly starts on a
     * damaged journal does not fill the disk.
     */
    private record Quarantine(Path path) {

        private static final long LARGEST = 2 << 20;

        static Quarantine of(Path journal) {
            return new Quarantine(journal.resolveSibling(journal.getFileName() + ".damaged"));
        }

        /**
         * Keeps pieces of a journal.
         *
         * @throws IOException if they can't be written
         */
        void keep(byte[] pieces) throws IOException {
            byte[] there = Files.exists(path) ? Files.readAllBytes(path) : new byte[0];
            if (there.length + pieces.length > LARGEST || text(there).contains(text(pieces))) {
                return;
            }
            if (!Files.exists(path)) {
                Files.createFile(path, JournalFile.OWNER_ONLY);
            }
            Files.write(path, pieces, StandardOpenOption.APPEND, StandardOpenOption.SYNC);
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.ISO_8859_1);
        }
    }
}
