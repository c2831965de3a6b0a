// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Entry;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Line;
import io.dra4j.runtime.internal.checkpoint.LineReader.Piece;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Bytes of all kinds are decoded to a line, or to nothing, or refused as of a newer release. */
@Tag("counts")
class JournalFuzzTest {

    private static final int ROUNDS = Boolean.getBoolean("dra4j.nightly") ? 100_000 : 5_000;
    private static final long SEED = Long.getLong("dra4j.seed", 4711);

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final List<byte[]> records = Stream.of(
                    Entry.header(true),
                    Entry.put(Records.started("uid-1")),
                    Entry.put(Records.full("uid-2")),
                    Entry.forget("uid-3"),
                    Entry.foundAll())
            .map(JournalFormat::encode)
            .toList();

    @Test
    void recordsWithARightSumAreReadOrRefused() {
        int read = 0;
        int nothing = 0;
        int newer = 0;
        for (int i = 0; i < ROUNDS; i++) {
            byte[] record = mutated(records.get(random.nextInt(records.size())));
            byte[] line = JournalFormat.line(
                    new LineNumber(random.nextInt(3), random.nextInt(9)),
                    Entry.forget("uid-" + random.nextInt(1, 4)),
                    record);
            try {
                Line decoded = JournalFormat.decode(Arrays.copyOf(line, line.length - 1));
                read += decoded == null ? 0 : 1;
                nothing += decoded == null ? 1 : 0;
            } catch (DraException e) {
                assertThat(e).hasMessageContaining("newer release");
                newer++;
            }
        }
        System.out.printf(
                "%d records with a right sum, seed %d: %d read, %d damaged, %d newer%n",
                ROUNDS, SEED, read, nothing, newer);
        assertThat(read).isPositive();
        assertThat(nothing).isPositive();
    }

    @Test
    void anyBytesAreReplayed() {
        int committed = 0;
        for (int i = 0; i < ROUNDS; i++) {
            Replay replay = new Replay("boot-1");
            LineNumber acknowledged = new LineNumber(1, random.nextInt(6));
            for (int j = 0; j < 4; j++) {
                replay.take(new Piece(piece(j), 10L * j, random.nextInt(10) > 0), acknowledged);
            }
            replay.end(acknowledged);
            committed += replay.claims().size();
            assertThat(replay.loss().damagedLines()).isNotNegative();
            assertThat(replay.last().compareTo(acknowledged)).isNotNegative();
        }
        System.out.printf("%d files of 4 pieces, seed %d: %d claims committed or damaged%n", ROUNDS, SEED, committed);
    }

    private byte[] piece(int number) {
        Entry entry = number == 0 ? Entry.header(false) : Entry.put(Records.started("uid-" + number));
        byte[] line = JournalFormat.line(new LineNumber(1, number), entry, JournalFormat.encode(entry));
        byte[] intact = Arrays.copyOf(line, line.length - 1);
        return random.nextInt(3) == 0 ? intact : mutated(intact);
    }

    private byte[] mutated(byte[] bytes) {
        byte[] changed = bytes.clone();
        for (int n = random.nextInt(4); n > 0 && changed.length > 0; n--) {
            int at = random.nextInt(changed.length);
            switch (random.nextInt(5)) {
                case 0 -> changed[at] = (byte) random.nextInt();
                case 1 -> changed[at] = (byte) "{}[]\",:0n-".charAt(random.nextInt(10));
                case 2 -> changed = Arrays.copyOf(changed, at);
                case 3 -> changed = swapped(changed);
                default -> changed = spliced(changed, at);
            }
        }
        return changed;
    }

    /** Numbers, names and words become others. */
    private byte[] swapped(byte[] bytes) {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        String[][] words = {
            {"PREPARED", "FROZEN"},
            {"STARTED", "1"},
            {":1", ":99999999999999999999"},
            {"\"uid-", "\"../uid-"},
            {"PT3S", "P"},
            {"true", "null"},
            {"[", "[[[[[[[["},
            {"80Gi", "\\u0000"}
        };
        String[] pair = words[random.nextInt(words.length)];
        return text.replace(pair[0], pair[1]).getBytes(StandardCharsets.ISO_8859_1);
    }

    private byte[] spliced(byte[] bytes, int at) {
        byte[] other = records.get(random.nextInt(records.size()));
        byte[] both = Arrays.copyOf(bytes, at + other.length);
        System.arraycopy(other, 0, both, at, other.length);
        return both;
    }
}
