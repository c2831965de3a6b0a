// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/**
 * A node whose journal of 50 prepared claims is damaged in one byte and started again, with the CDI specs there and
 * with them gone.
 *
 * <p>What the journal makes of every single byte is tried where the journal is; here, what the node does: it starts,
 * and each claim that was answered is prepared afterwards, or held as damaged with its device refused to others.
 */
@Tag("counts")
class DamagedNodeTest {

    private static final boolean FULL = Boolean.getBoolean("dra4j.nightly");
    private static final int CLAIMS = 50;
    private static final int DAMAGES = FULL ? 60 : 4;
    private static final int THIEVES = 3; // what is held is looked at for every claim
    private static final long SEED = 20261121;

    @TempDir
    Path directory;

    private final RecordingProvider provider = new RecordingProvider();
    private List<ClaimRef> answered = List.of();
    private final Map<Path, byte[]> files = new TreeMap<>();
    private final Map<String, Integer> counts = new TreeMap<>();
    private final Logger log = (Logger) LoggerFactory.getLogger("io.dra4j");
    private NodeUnderTest node;

    private enum Specs {
        PRESENT,
        WIPED
    }

    private enum Damage {
        FLIP,
        DELETE,
        CUT;

        byte[] of(byte[] whole, int at) {
            String text = new String(whole, ISO_8859_1);
            String before = text.substring(0, at);
            String after = text.substring(at + 1);
            String damaged = switch (this) {
                case FLIP -> before + (char) (text.charAt(at) ^ 0x10) + after;
                case DELETE -> before + after;
                case CUT -> before;
            };
            return damaged.getBytes(ISO_8859_1);
        }
    }

    @BeforeEach
    void prepare() throws IOException {
        log.setLevel(Level.OFF); // each damage is logged
        provider.devices = CLAIMS;
        node = new NodeUnderTest(directory, provider).start("boot-1");
        node.claims.recover();
        answered = node.allocateEach(CLAIMS);
        assertThat(node.prepare(Duration.ofMinutes(1), answered).values())
                .hasOnlyElementsOfType(PrepareOutcome.Prepared.class);
        node.stop();
        for (Path root : List.of(node.data, node.cdi)) {
            try (Stream<Path> all = Files.walk(root)) {
                for (Path file : all.filter(Files::isRegularFile).toList()) {
                    files.put(file, Files.readAllBytes(file));
                }
            }
        }
    }

    @AfterEach
    void tell() {
        node.executor.shutdownNow();
        log.setLevel(null);
        System.out.printf("node with %d claims, seed %d: %s%n", CLAIMS, SEED, counts);
    }

    @ParameterizedTest
    @EnumSource
    void forgetsNoClaim(Specs specs) throws IOException {
        byte[] whole = files.get(node.data.resolve("claims.journal"));
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < DAMAGES; i++) {
            for (Damage damage : Damage.values()) {
                int at = random.nextInt(whole.length);
                restore(specs, damage.of(whole, at));
                node.recover("boot-1");
                check(damage + ", specs " + specs, "byte " + at);
                node.stop();
            }
        }
    }

    @Test
    void thatLostAllIsNotTakenForAnEmptyOne() throws IOException {
        restore(Specs.WIPED, new byte[0]);
        node.recover("boot-1");

        check("empty, specs WIPED", "all");

        assertThat(counts).containsOnlyKeys("empty, specs WIPED: damaged");
        node.stop();
    }

    private void restore(Specs specs, byte[] journal) throws IOException {
        for (Map.Entry<Path, byte[]> file : files.entrySet()) {
            Files.write(file.getKey(), file.getValue());
            if (specs == Specs.WIPED && file.getKey().startsWith(node.cdi)) {
                Files.delete(file.getKey());
            }
        }
        Files.write(node.data.resolve("claims.journal"), journal);
        answered.forEach(ref -> node.allocate(ref, "gpu-" + answered.indexOf(ref)));
    }

    private void check(String damage, String where) {
        int thieves = 0;
        for (ClaimRef ref : answered) {
            boolean prepared =
                    node.journal.claim(ref.uid()).filter(this::isPrepared).isPresent();
            if (!prepared) {
                if (thieves++ < THIEVES) {
                    requireRefused(ref, damage + " at " + where);
                }
                requireHeld(ref, damage + " at " + where);
            }
            counts.merge(damage + (prepared ? ": prepared" : ": damaged"), 1, Integer::sum);
        }
    }

    private boolean isPrepared(ClaimRecord record) {
        return record.phase() == Phase.PREPARED;
    }

    private void requireRefused(ClaimRef ref, String where) {
        String device = "gpu-" + answered.indexOf(ref);
        ClaimRef thief = new ClaimRef("ns", "thief", "thief-of-" + device);
        node.allocate(thief, device);
        assertThat(node.prepare(thief)).as(where).isInstanceOf(PrepareOutcome.Failed.class);
        node.api.objects.remove(thief);
    }

    private void requireHeld(ClaimRef ref, String where) {
        String device = "gpu-" + answered.indexOf(ref);
        Optional<ClaimRecord> held = node.journal.claim(ref.uid());
        assertThat(held.map(ClaimRecord::phase)).as(where).contains(Phase.DAMAGED);
        assertThat(held.orElseThrow().devices())
                .as(where)
                .extracting(one -> one.device().value())
                .contains(device);
    }
}
