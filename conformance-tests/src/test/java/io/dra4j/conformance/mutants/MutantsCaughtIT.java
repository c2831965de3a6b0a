// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The suite finds the faults that drivers are given, for the reason that they have, and finds no
 * other: each with the requirements that it is mapped to and ten canaries.
 *
 * <p>All with {@code -Pfull}, a few of each kind without. {@code -Ddra4j.mutants=M-57.*} judges
 * those alone, {@code -Ddra4j.mutants.suite=whole} with all that the suite has: what fails there
 * besides is not in the table yet, so that is to look at, and fails.
 */
class MutantsCaughtIT {

    /** Most of the time they wait: for a driver to start, or for a limit to pass. */
    private static final int LANES = 6;

    private static final String FEW = "M-(03a|05|17|23|35|45|52|61b|64|75b|100)(/middle)?";

    private static final String WHICH =
            System.getProperty("dra4j.mutants", Boolean.getBoolean("dra4j.full") ? ".*" : FEW);

    @Test
    void everyMutantIsCaught() throws Exception {
        MutantJudge judge = new MutantJudge();
        List<Mutant> mutants =
                Mutant.all().stream().filter(mutant -> mutant.id().matches(WHICH)).toList();
        Map<Mutant, List<String>> missed = Lineup.complaints(mutants, LANES, judge::complaints);
        System.out.printf(
                "%d mutants, %d caught%n", mutants.size(), mutants.size() - missed.size());
        assertThat(mutants).isNotEmpty();
        assertThat(missed).isEmpty();
    }
}
