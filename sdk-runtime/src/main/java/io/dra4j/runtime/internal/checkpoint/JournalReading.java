// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.runtime.internal.checkpoint.LineReader.Piece;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** The result of reading a journal without a lock and without changing it. */
public record JournalReading(List<ClaimRecord> claims, JournalLoss loss) {

    public JournalReading {
        claims = List.copyOf(claims);
    }

    public static JournalReading of(List<ClaimRecord> claims) {
        return new JournalReading(claims, JournalLoss.NONE);
    }

    static JournalReading of(Path file, String bootId) throws IOException {
        Replay replay = new Replay(bootId);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            LineReader reader = new LineReader(channel, 0);
            for (Piece piece = reader.next(); piece != null; piece = reader.next()) {
                replay.take(piece, LineNumber.NONE);
            }
        } catch (NoSuchFileException e) {
            return of(List.of());
        }
        replay.end(LineNumber.NONE);
        return new JournalReading(List.copyOf(replay.claims().values()), replay.loss());
    }
}
