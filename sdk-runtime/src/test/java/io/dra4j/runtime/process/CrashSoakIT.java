// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.process;

import io.dra4j.runtime.process.CrashNode.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random prepares and unprepares, through which the driver's process dies at random steps. */
@Tag("nightly")
@Tag("counts")
class CrashSoakIT {

    private static final int ROUNDS_OF_A_NODE = Boolean.getBoolean("dra4j.nightly") ? 100 : 10;
    private static final long SEED = Long.getLong("dra4j.seed", 1);

    @TempDir
    static Path folder;

    @Test
    void nothingLeaksAndNoDeviceIsLostOrDoubledWhateverStepsTheDriverDiesAt() throws Exception {
        System.out.println("Seed " + SEED);
        Path library = CrashPoints.build(folder);
        List<CrashSoak> soaks = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            soaks.add(new CrashSoak(library, kind, ROUNDS_OF_A_NODE, SEED + kind.ordinal()));
        }
        Map<String, Integer> hits = new TreeMap<>();
        for (CrashSoak done : CrashNode.inParallel(soaks)) {
            System.out.println(done);
            done.hits.forEach((point, count) -> hits.merge(point, count, Integer::sum));
        }
        System.out.println("Points hit: " + hits.size());
        hits.forEach((point, count) -> System.out.println("  " + count + " x " + point));
    }
}
