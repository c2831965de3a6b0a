// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Prepared;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** The cost of a prepare does not grow with the claims held: measured alternately, in one process. */
@Tag("counts")
@Isolated
class HeldClaimsCostTest {

    private static final boolean FULL = Boolean.getBoolean("dra4j.nightly");
    private static final int HELD = 1000;
    private static final int WARM_UP = FULL ? 1000 : 100;
    private static final int ROUNDS = FULL ? 3000 : 150;
    private static final double LIMIT = FULL ? 1.1 : 2; // 150 rounds measure the machine, too
    private static final ClaimRef CLAIM = new ClaimRef("ns", "measured", "uid-measured");

    @TempDir
    Path directory;

    private NodeUnderTest node(String name) {
        RecordingProvider provider = new RecordingProvider();
        provider.devices = HELD + 1;
        NodeUnderTest node = new NodeUnderTest(directory.resolve(name), provider).start("boot-1");
        node.allocate(CLAIM, "gpu-" + HELD);
        return node;
    }

    private static void hold(NodeUnderTest node) {
        List<ClaimRef> refs = node.allocateEach(HELD);
        for (int i = 0; i < HELD; i += 50) {
            assertThat(node.prepare(Duration.ofMinutes(1), refs.subList(i, i + 50))
                            .values())
                    .hasOnlyElementsOfType(Prepared.class);
        }
        refs.forEach(node.api.objects::remove); // the fake API server searches all that it has
    }

    private static long measure(NodeUnderTest node) {
        long begin = System.nanoTime();
        PrepareOutcome outcome = node.prepare(CLAIM);
        long time = System.nanoTime() - begin;
        assertThat(outcome).isInstanceOf(Prepared.class);
        node.unprepare(CLAIM);
        return time;
    }

    @Test
    void aPrepareWithAThousandClaimsHeldCostsWhatItCostsWithNone() {
        try (NodeUnderTest none = node("none");
                NodeUnderTest many = node("many")) {
            hold(many);
            IntStream.range(0, WARM_UP).forEach(i -> measure(i % 2 == 0 ? none : many));
            // Other load on the machine can make one measurement wrong; a cost that grows makes
            // them all.
            double least = IntStream.range(0, 3)
                    .mapToDouble(i -> ratio(many, none))
                    .filter(ratio -> ratio < LIMIT)
                    .findFirst()
                    .orElse(LIMIT);
            assertThat(least).as("ratio").isLessThan(LIMIT);
        }
    }

    /** Returns what a prepare costs the one more than the other, less its error. */
    private static double ratio(NodeUnderTest many, NodeUnderTest none) {
        long[] withNone = new long[ROUNDS];
        long[] withMany = new long[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            boolean first = i % 2 == 0;
            long a = measure(first ? none : many);
            long b = measure(first ? many : none);
            withNone[i] = first ? a : b;
            withMany[i] = first ? b : a;
        }
        double ratio = quartile(withMany) / quartile(withNone);
        double error = bootstrapError(withMany, withNone);
        System.out.printf(
                "prepare with %d claims held: %.0f us, with none: %.0f us, ratio %.3f +- %.3f"
                        + " (lower quartiles of %d)%n",
                HELD, quartile(withMany) / 1e3, quartile(withNone) / 1e3, ratio, error, ROUNDS);
        return ratio - 2 * error;
    }

    private static double quartile(long[] times) {
        long[] sorted = times.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 4];
    }

    private static double bootstrapError(long[] above, long[] below) {
        Random random = new Random(1);
        double[] ratios = IntStream.range(0, 200)
                .mapToDouble(i -> quartile(drawn(above, random)) / quartile(drawn(below, random)))
                .toArray();
        double mean = Arrays.stream(ratios).average().orElseThrow();
        return Math.sqrt(Arrays.stream(ratios)
                .map(r -> (r - mean) * (r - mean))
                .average()
                .orElse(0));
    }

    private static long[] drawn(long[] times, Random random) {
        return random.ints(times.length, 0, times.length)
                .mapToLong(i -> times[i])
                .toArray();
    }
}
