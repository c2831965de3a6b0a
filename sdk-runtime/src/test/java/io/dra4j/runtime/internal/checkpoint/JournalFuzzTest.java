// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Entry;
import io.dra4j.runtime.internal.checkpoint.JournalFormat.Line;
import io.dra4j.runtime.internal.checkpoint.LineReader.Piece;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Lines of all kinds are decoded, or are nothing, or refused as of a newer release; and a file is read with any damage. */
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

    /**
     * A journal of 50 claims, opened after every single damage of one byte, and cut at every byte.
     *
     * <p>All damages are replayed in memory, and some of them from a file. With any damage, it opens, and each claim is
     * afterwards committed as it was, or held as damaged; or the journal knows that it does not know all claims any more.
     */
    @Nested
    class ADamagedFile {

        private static final boolean FULL = Boolean.getBoolean("dra4j.nightly");
        private static final int STRIDE = FULL ? 1 : 127;
        private static final int OPENS = FULL ? 401 : 41;
        private static final int CLAIMS = 50;
        private static final long SEED = 20261121;

        @TempDir(factory = InMemory.class)
        Path directory;

        private final SplittableRandom random = new SplittableRandom(SEED);
        private final Logger log = (Logger) LoggerFactory.getLogger(Journal.class);
        private final Map<String, Integer> counts = new LinkedHashMap<>();
        private final Map<String, ClaimRecord> expected = new LinkedHashMap<>();
        private int headerEnd;
        private Path file;
        private LockFile locks;
        private LineNumber acknowledged = LineNumber.NONE;
        private byte[] whole = new byte[0];

        @BeforeEach
        void write() throws IOException {
            log.setLevel(Level.OFF); // each damage is logged, thousands of times
            file = directory.resolve("claims.journal");
            locks = LockFile.open(directory.resolve("claims.lock"));
            try (Journal journal = Records.openWithoutSync(file, locks)) {
                for (int i = 0; i < CLAIMS; i++) {
                    String uid = String.format("%08x-9b1d-4e7f-8a52-a1b2c3d4e5f6", random.nextInt());
                    journal.put(Records.started(uid));
                    if (i % 5 == 0) {
                        journal.put(Records.prepared(uid));
                    }
                    if (i % 10 == 9) {
                        journal.forget(uid);
                        journal.put(Records.prepared(uid));
                    }
                }
                journal.claims().forEach(claim -> expected.put(claim.ref().uid(), claim));
                acknowledged = locks.lastLine();
                whole = Files.readAllBytes(file);
            }
            assertThat(expected).hasSize(CLAIMS);
            headerEnd = new String(whole, StandardCharsets.ISO_8859_1).indexOf('\n') + 1;
        }

        @AfterEach
        void tell() {
            locks.close();
            log.setLevel(null);
            System.out.printf(
                    "journal of %d claims, %d bytes, every%s byte: %s%n",
                    CLAIMS, whole.length, STRIDE == 1 ? "" : " " + STRIDE + "th", counts);
        }

        @ParameterizedTest
        @ValueSource(strings = {"flip", "line feed", "delete", "cut"})
        void damagesTwoClaimsAtMostAndNamesThemAndForgetsNoneInSilenceIfItIsCut(String how) throws IOException {
            int stride = how.equals("line feed") ? 8 * STRIDE : STRIDE;
            for (int i = random.nextInt(stride); i < whole.length; i += stride) {
                byte[] bytes = whole.clone();
                switch (how) {
                    case "flip" -> bytes[i] ^= (byte) random.nextInt(1, 256);
                    case "line feed" -> bytes[i] = '\n';
                    default -> bytes = Arrays.copyOf(whole, i);
                }
                if (how.equals("delete")) {
                    bytes = Arrays.copyOf(bytes, whole.length - 1);
                    System.arraycopy(whole, i + 1, bytes, i, bytes.length - i);
                }
                tryDamaged(how, i, bytes, !how.equals("cut"));
            }
        }

        private void tryDamaged(String how, int at, byte[] bytes, boolean namesAll) throws IOException {
            Replay replay = new Replay("boot-1");
            int start = 0;
            for (int i = 0; i < bytes.length; i++) {
                if (bytes[i] == '\n' || i == bytes.length - 1) {
                    boolean isEnded = bytes[i] == '\n';
                    byte[] piece = Arrays.copyOfRange(bytes, start, isEnded ? i : i + 1);
                    replay.take(new Piece(piece, i + 1, isEnded), acknowledged);
                    start = i + 1;
                }
            }
            replay.end(acknowledged);
            check(how, at, replay.claims().values(), replay.loss(), namesAll);
            if (at / STRIDE % OPENS == 0) {
                Files.write(file, bytes);
                locks.lastLine(acknowledged);
                try (Journal journal = Records.openWithoutSync(file, locks)) {
                    count(how + ": opened");
                    assertThat(journal.loss()).isEqualTo(replay.loss());
                    assertThat(journal.claims())
                            .containsExactlyElementsOf(replay.claims().values());
                }
            }
        }

        private void check(String how, int at, Collection<ClaimRecord> claims, JournalLoss loss, boolean namesAll) {
            count(how + ": damages");
            Map<String, ClaimRecord> after = new HashMap<>();
            claims.forEach(claim -> after.put(claim.ref().uid(), claim));
            int changed = 0;
            for (ClaimRecord was : expected.values()) {
                ClaimRecord now = after.remove(was.ref().uid());
                boolean isSame = was.equals(now);
                changed += isSame ? 0 : 1;
                count(how + (now == null ? ": unknown" : isSame ? ": kept" : ": damaged"));
                if (now == null ? loss.complete() : !isSame && !isDamaged(now)) {
                    throw new AssertionError(how + ": " + was + " became " + now + ", and " + loss);
                }
            }
            assertThat(after.values()).as("claims that never were").allMatch(now -> isDamaged(now));
            boolean hitsHeader = at < headerEnd; // which may have said that claims are lost
            if (namesAll && (!loss.complete() && !hitsHeader || changed > 2)) {
                throw new AssertionError(how + " changed " + changed + " claims, and " + loss);
            }
        }

        private static boolean isDamaged(ClaimRecord claim) {
            return claim.phase() == Phase.DAMAGED && claim.state() == null && claim.results() == null;
        }

        /** A disk that other processes do not keep busy, if there is one. */
        static final class InMemory implements TempDirFactory {
            @Override
            public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context)
                    throws IOException {
                Path memory = Path.of("/dev/shm");
                return Files.isWritable(memory)
                        ? Files.createTempDirectory(memory, "dra4j")
                        : Files.createTempDirectory("dra4j");
            }
        }

        private void count(String what) {
            counts.merge(what, 1, Integer::sum);
        }
    }
}
