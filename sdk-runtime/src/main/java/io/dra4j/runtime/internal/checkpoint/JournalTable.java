// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.claim.HeldDevice;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Entry;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Line;
import io.dra4j.runtime.internal.checkpoint.LineReader.Piece;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Prints what is in a journal, a row for each line, the damaged ones included.
 *
 * <p>It only reads, and takes no lock, so that it can look at the journal of a driver that runs;
 * that may be in the middle of a line then. Nothing of a damaged line is printed but UIDs.
 */
final class JournalTable {

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
            out.printf(ROW, number, "(found)", "lost claims were looked for", "", "", "", "");
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
