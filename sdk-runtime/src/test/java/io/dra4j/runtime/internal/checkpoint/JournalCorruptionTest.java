// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.runtime.internal.checkpoint.LineReader.Piece;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.slf4j.LoggerFactory;

/**
 * A journal of 50 claims, opened after every single damage of one byte, and cut at every byte.
 *
 * <p>All damages are replayed in memory, and some of them from a file. With any damage, it opens, and each claim is
 * afterwards committed as it was, or held as damaged; or the journal knows that it does not know all claims any more.
 */
@Tag("counts")
class JournalCorruptionTest {

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
    private final Replay intact = new Replay("boot-1");
    private final List<Integer> lineEnds = new ArrayList<>();
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
        for (int i = 0; i < whole.length; i++) {
            if (whole[i] == '\n') {
                lineEnds.add(i + 1);
            }
        }
    }

    @AfterEach
    void tell() {
        locks.close();
        log.setLevel(null);
        System.out.printf(
                "journal of %d claims, %d bytes, every%s byte: %s%n",
                CLAIMS, whole.length, STRIDE == 1 ? "" : " " + STRIDE + "th", counts);
    }

    @Test
    void aFlippedByteDamagesTwoClaimsAtMostAndNamesThem() throws IOException {
        for (int i = random.nextInt(STRIDE); i < whole.length; i += STRIDE) {
            byte[] bytes = whole.clone();
            bytes[i] ^= (byte) random.nextInt(1, 256);
            tryDamaged("flip", i, bytes, true);
            if (i / STRIDE % 8 == 0) {
                bytes[i] = '\n';
                tryDamaged("line feed", i, bytes, true);
            }
        }
    }

    @Test
    void aByteThatIsMissingDamagesTwoClaimsAtMostAndNamesThem() throws IOException {
        for (int i = random.nextInt(STRIDE); i < whole.length; i += STRIDE) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            bytes.write(whole, 0, i);
            bytes.write(whole, i + 1, whole.length - i - 1);
            tryDamaged("delete", i, bytes.toByteArray(), true);
        }
    }

    @Test
    void whereverItIsCutNoClaimIsForgottenInSilence() throws IOException {
        for (int i = random.nextInt(STRIDE); i < whole.length; i += STRIDE) {
            tryDamaged("cut", i, Arrays.copyOf(whole, i), false);
        }
    }

    private void tryDamaged(String how, int at, byte[] bytes, boolean namesAll) throws IOException {
        Replay replay = before(at);
        int start = (int) replay.end();
        for (int i = start; i < bytes.length; i++) {
            if (bytes[i] == '\n' || i == bytes.length - 1) {
                boolean isEnded = bytes[i] == '\n';
                byte[] piece = Arrays.copyOfRange(bytes, start, isEnded ? i : i + 1);
                replay.take(new Piece(piece, i + 1, isEnded), acknowledged);
                start = i + 1;
            }
        }
        replay.end(acknowledged);
        check(how, replay.claims().values(), replay.loss(), namesAll);
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

    /** Replays the lines before the one that a byte is in, which are the same each time. */
    private Replay before(int at) {
        while (at >= lineEnds.get(0)) {
            byte[] line = Arrays.copyOfRange(whole, (int) intact.end(), lineEnds.get(0) - 1);
            intact.take(new Piece(line, lineEnds.remove(0), true), acknowledged);
        }
        return intact.lines() == 0
                ? new Replay("boot-1")
                : new Replay("boot-1", intact.claims(), intact.last(), intact.end(), true);
    }

    private void check(String how, Collection<ClaimRecord> claims, JournalLoss loss, boolean namesAll) {
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
        boolean hitsHeader = intact.lines() == 0; // which may have said that claims are lost
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
        public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context) throws IOException {
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
