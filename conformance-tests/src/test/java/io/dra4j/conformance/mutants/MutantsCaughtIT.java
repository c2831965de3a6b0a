// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * The suite finds the faults that drivers are given, for the reason that they have, and finds no
 * other: each with the requirements that it is mapped to and ten canaries.
 *
 * <p>{@code -Ddra4j.mutants=.*} judges all, {@code -Ddra4j.mutants=M-57} one. Mutants that have no
 * message for each requirement in the table are not judged here.
 */
class MutantsCaughtIT {

    private static final int LANES = 2;

    /** A few of each kind, since all of them take many minutes. */
    private static final String FEW = "M-(03a|05|17|23|35|45|52|61b|64|71b|100)";

    private static final String WHICH = System.getProperty("dra4j.mutants", FEW);

    @Test
    void everyMutantIsCaught() throws Exception {
        MutantJudge judge = new MutantJudge();
        List<Mutant> mutants = Mutant.all().stream().filter(MutantsCaughtIT::isJudged).toList();
        ExecutorService lanes = Executors.newFixedThreadPool(LANES);
        Map<String, List<String>> missed = new LinkedHashMap<>();
        try {
            Map<Mutant, Future<List<String>>> judged = new LinkedHashMap<>();
            mutants.forEach(
                    mutant -> judged.put(mutant, lanes.submit(() -> judge.complaints(mutant))));
            for (Map.Entry<Mutant, Future<List<String>>> one : judged.entrySet()) {
                List<String> complaints = one.getValue().get();
                if (!complaints.isEmpty()) { // a loaded machine breaks limits, too: once more
                    complaints = judge.complaints(one.getKey());
                }
                if (!complaints.isEmpty()) {
                    missed.put(one.getKey().toString(), complaints);
                }
            }
        } finally {
            lanes.shutdownNow();
        }
        System.out.printf(
                "%d mutants, %d caught%n", mutants.size(), mutants.size() - missed.size());
        missed.forEach(
                (mutant, complaints) ->
                        System.out.println(mutant + "\n    " + String.join("\n    ", complaints)));
        assertThat(mutants).isNotEmpty();
        assertThat(missed).isEmpty();
    }

    private static boolean isJudged(Mutant mutant) {
        return mutant.id().matches(WHICH)
                && mutant.messages().keySet().containsAll(mutant.requirements());
    }
}
