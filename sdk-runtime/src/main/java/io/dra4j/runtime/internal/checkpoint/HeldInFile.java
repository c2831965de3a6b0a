// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Entry;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Line;
import io.dra4j.runtime.internal.checkpoint.LineReader.Piece;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The claims that a journal has at the end, for another process than the driver's.
 *
 * <p>It only reads, and takes no lock, as {@link JournalTable}; lines that are damaged or not
 * complete count for nothing.
 */
final class HeldInFile {

    private final Map<String, ClaimRecord> claims = new LinkedHashMap<>();

    private HeldInFile() {}

    static List<HeldClaim> read(Path file) throws IOException {
        HeldInFile held = new HeldInFile();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            LineReader reader = new LineReader(channel, 0);
            for (Piece piece = reader.next(); piece != null; piece = reader.next()) {
                Line line = JournalFormat.decode(piece.bytes());
                if (line != null) {
                    held.add(line.record());
                }
            }
        } catch (NoSuchFileException e) {
            return List.of(); // the driver never ran
        }
        return held.claims.values().stream()
                .map(claim -> claim.held(claim.bootId()))
                .toList();
    }

    private void add(Entry entry) {
        ClaimRecord claim = entry.put();
        if (claim != null) {
            claims.put(claim.ref().uid(), claim);
        } else if (entry.forget() != null) {
            claims.remove(entry.forget());
        }
    }
}
