// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.kubelet.KubeletEvent.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * Every mutant of the table runs, as far as its fault lets it; what it gets wrong is not for here.
 */
class MutantIT {

    private static final boolean FULL = Boolean.getBoolean("dra4j.full");
    private static final int FEW = 4;
    private static final long SEED = Long.getLong("dra4j.seed", System.nanoTime());

    @Test
    void everyDriverOfTheTableStarts() throws Exception {
        System.out.println("Mutants, seed " + SEED);
        List<Mutant> mutants = new ArrayList<>(Mutant.all());
        Collections.shuffle(mutants, new Random(SEED));
        BareProgram.middleman("M-01");
        ExecutorService lanes = Executors.newFixedThreadPool(2);
        try {
            List<Future<String>> started = new ArrayList<>();
            for (Mutant mutant : FULL ? mutants : mutants.subList(0, FEW)) {
                started.add(lanes.submit(() -> start(mutant)));
            }
            List<String> wrong = new ArrayList<>();
            for (Future<String> each : started) {
                wrong.add(each.get());
            }
            assertThat(wrong).allMatch(String::isEmpty);
        } finally {
            lanes.shutdownNow();
        }
    }

    /** Returns what is not as the table has it. */
    private static String start(Mutant mutant) throws Exception {
        try (BareBench bench = new BareBench(mutant.command())) {
            bench.start();
            Kind wanted = mutant.registered() ? Kind.REGISTERED : Kind.REGISTRATION_FAILED;
            boolean hidden = mutant.number().equals("M-107");
            boolean seen =
                    hidden
                            ? !bench.awaitSlices(slices -> !slices.isEmpty()).isEmpty()
                            : bench.kubelet.awaitEvents(
                                    events -> events.stream().anyMatch(e -> e.kind() == wanted),
                                    BareBench.PATIENCE);
            return seen && bench.process().isAlive()
                    ? ""
                    : mutant + ": " + bench.kubelet.events() + "\n" + bench.log();
        }
    }
}
