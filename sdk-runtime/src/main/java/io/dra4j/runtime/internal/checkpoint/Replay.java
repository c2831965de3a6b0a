// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Entry;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Line;
import io.dra4j.runtime.internal.checkpoint.LineReader.Piece;
import java.io.ByteArrayOutputStream;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Computes the committed claims from the lines of a journal, including damaged ones.
 *
 * <p>Line after line is applied. Where pieces are not lines, or numbers are missing, the claims concerned are held as
 * damaged: those that the {@linkplain CorruptedLines pieces name}, and all claims known up to there if the pieces name
 * fewer than the numbers show to be missing. A later intact line is trusted: its claim is certain again. A missing
 * header may have recorded that claims are still being searched for, so that is assumed.
 *
 * <p>At the file's end no later number shows what is missing. There, the number of the last acknowledged line does,
 * which is stored separately; it may lag behind after a power failure. Bytes after all acknowledged lines without a
 * line feed were being written during a crash, and are ignored.
 *
 * <p>Not thread-safe.
 */
final class Replay {

    private static final int MOST_KEPT = 1 << 20;
    private static final long ALL = Long.MAX_VALUE; // it is unknown which claims

    private final String bootId;
    private final Map<String, ClaimRecord> claims = new LinkedHashMap<>();
    private final ByteArrayOutputStream damaged = new ByteArrayOutputStream();
    private final Set<String> uids = new HashSet<>();
    private @Nullable LineNumber last; // of the lines that were intact
    private LineNumber next = LineNumber.NONE; // the last number that may have been given
    private @Nullable CorruptedLines corrupted;
    private long end;
    private boolean isEnded = true;
    private int lines;
    private int damagedLines;
    private boolean tornTail;
    private boolean complete = true;

    Replay(String bootId) {
        this.bootId = bootId;
    }

    /** Continues after the known lines. */
    Replay(String bootId, Map<String, ClaimRecord> known, LineNumber last, long end, boolean complete) {
        this(bootId);
        this.complete = complete;
        this.claims.putAll(known);
        this.last = last;
        this.next = last;
        this.end = end;
    }

    /**
     * Takes the next piece of the file.
     *
     * @param acknowledged the last line that was acknowledged, as far as that is known
     * @throws DraException if a newer release wrote it in a form unknown to this one
     */
    void take(Piece piece, LineNumber acknowledged) {
        Line line = piece.bytes().length == 0 ? null : JournalFormat.decode(piece.bytes());
        if (line != null && isInOrder(line)) {
            take(line);
        } else if (isTorn(piece, acknowledged)) {
            tornTail = true;
            return;
        } else if (piece.bytes().length > 0) {
            spoil(piece.bytes());
        }
        end = piece.end();
        isEnded = piece.isEnded();
    }

    /** A line of an earlier file, or a repeated line, was not written here. */
    private boolean isInOrder(Line line) {
        return last == null || line.number().compareTo(last) > 0;
    }

    private boolean isTorn(Piece piece, LineNumber acknowledged) {
        return !piece.isEnded()
                && corrupted == null
                && acknowledged.compareTo(last == null ? LineNumber.NONE : last) <= 0;
    }

    private void take(Line line) {
        requireKnownFormat(line.record());
        if (last == null) {
            complete &= line.line() == 0;
            loseIfAny(line.line() - 1, line.line()); // the header is about no claim
        } else if (line.file() == last.file()) {
            long missing = line.line() - last.line() - 1;
            loseIfAny(missing, missing);
        } else {
            lose(ALL, Math.max(1, line.line()));
        }
        last = line.number();
        next = last;
        lines++;
        complete = line.record().isComplete(complete);
        line.record().applyTo(claims);
        uids.remove(line.claim());
    }

    private static void requireKnownFormat(Entry entry) {
        Integer version = entry.version();
        if (version != null && version > JournalFormat.VERSION) {
            throw new DraException(("it has format version %s, this release reads up to %s; run the release that "
                            + "wrote it, or unprepare all claims with it first")
                    .formatted(version, JournalFormat.VERSION));
        }
    }

    private void spoil(byte[] piece) {
        if (corrupted == null) {
            corrupted = new CorruptedLines();
        }
        corrupted.add(piece);
        if (damaged.size() + piece.length < MOST_KEPT) {
            damaged.writeBytes(piece);
            damaged.write('\n');
        }
    }

    /** Ends the replay with the lines that are missing at the end. */
    void end(LineNumber acknowledged) {
        complete &= last != null || corrupted == null;
        LineNumber known = last == null ? new LineNumber(acknowledged.file(), 0) : last;
        if (acknowledged.file() > known.file()) { // an old file came back
            lose(ALL, Math.max(1, acknowledged.line()));
        } else {
            long missing = acknowledged.file() == known.file() ? acknowledged.line() - known.line() : 0;
            if (corrupted != null && missing < Math.max(1, corrupted.named())) { // the number lags behind
                missing = Math.max(corrupted.named(), corrupted.pieces());
            }
            next = known.plus(Math.max(0, missing));
            loseIfAny(missing, missing);
        }
        if (acknowledged.compareTo(next) > 0) {
            next = acknowledged;
        }
    }

    private void loseIfAny(long claimLines, long allLines) {
        if (allLines > 0 || corrupted != null) {
            lose(claimLines, allLines);
        }
    }

    /** Holds the claims of damaged or missing lines as damaged. */
    private void lose(long claimLines, long allLines) {
        CorruptedLines lost = corrupted == null ? new CorruptedLines() : corrupted;
        corrupted = null;
        damagedLines += (int) Math.min(Math.max(1, allLines), Integer.MAX_VALUE - damagedLines);
        Set<String> concerned = new HashSet<>(lost.uids());
        if (lost.named() < claimLines) {
            complete = false;
            concerned.addAll(claims.keySet());
        }
        for (String uid : concerned) {
            claims.put(uid, lost.damaged(uid, claims.get(uid), bootId));
        }
        uids.addAll(concerned);
    }

    Map<String, ClaimRecord> claims() {
        return claims;
    }

    JournalLoss loss() {
        return new JournalLoss(tornTail, damagedLines, uids, complete);
    }

    /** The pieces that are not lines, as they were found, with a line feed after each. */
    byte[] damaged() {
        return damaged.toByteArray();
    }

    int lines() {
        return lines;
    }

    /** The number after which the next line is numbered. */
    LineNumber last() {
        return next;
    }

    /** Returns the position of the next line: after all lines except a torn one. */
    long end() {
        return end;
    }

    /** Returns whether the bytes before that position end with a line feed. */
    boolean isEnded() {
        return isEnded;
    }
}
