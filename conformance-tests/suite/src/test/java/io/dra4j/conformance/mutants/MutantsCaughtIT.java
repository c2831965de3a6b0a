// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The suite finds the faults that drivers are given, for the reason that they have, and finds no
 * other.
 *
 * <p>Without {@code -Pfull} a few of each kind are judged, as processes, by the requirements that
 * they are mapped to and ten canaries. With it all are: by the whole suite, in half an hour, or, if
 * they repeat with a middleman a fault that the bare driver has, by those few requirements. {@code
 * -Ddra4j.mutants.suite=part} does that with a twelfth, another one each day, or that of {@code
 * -Ddra4j.mutants.part=1}; of the rest it has those that repeat none judged by the few. {@code
 * -Ddra4j.mutants=M-57.*} judges those alone.
 */
@Tag("alone")
class MutantsCaughtIT {

    private static final String FEW = "M-(03a|05|17|23|35|45|52|61b|64|75b|100)(/middle)?";
    private static final int PARTS = 12;

    private static final boolean FULL = Boolean.getBoolean("dra4j.full");

    /** Most of the time they wait: for a limit to pass, or for a driver to start. */
    private static final int LANES = 6;

    private static final int HOSTED_LANES = 16;

    private static final String SUITE =
            System.getProperty("dra4j.mutants.suite", FULL ? "whole" : "few");

    private static final String WHICH = System.getProperty("dra4j.mutants", FULL ? ".*" : FEW);

    private final MutantJudge judge = new MutantJudge();
    private final long part =
            Math.floorMod(
                    Long.getLong("dra4j.mutants.part", LocalDate.now(ZoneOffset.UTC).toEpochDay()),
                    (long) PARTS);

    @Test
    void everyMutantIsCaught() throws Exception {
        assertThat(SUITE).as("dra4j.mutants.suite").isIn("few", "part", "whole");
        List<Mutant> mutants = Mutant.all().stream().filter(this::isJudged).toList();
        Map<Boolean, List<Mutant>> byHost =
                mutants.stream().collect(Collectors.partitioningBy(MutantsCaughtIT::isHosted));
        Map<Mutant, List<String>> missed =
                Lineup.complaints(byHost.get(true), HOSTED_LANES, this::hosted);
        missed.putAll(Lineup.complaints(byHost.get(false), LANES, this::process));
        System.out.printf(
                "%d mutants, %d caught%n", mutants.size(), mutants.size() - missed.size());
        System.out.printf(
                "The whole suite judged %d of them (-Ddra4j.mutants.suite=%s%s)%n",
                mutants.stream().filter(this::isWhole).count(),
                SUITE,
                SUITE.equals("part") ? " -Ddra4j.mutants.part=" + part : "");
        assertThat(mutants).isNotEmpty();
        assertThat(missed).isEmpty();
    }

    private List<String> hosted(Mutant mutant) throws Exception {
        return judge.hostedComplaints(mutant, isWhole(mutant));
    }

    private List<String> process(Mutant mutant) throws Exception {
        return judge.complaints(mutant, isWhole(mutant));
    }

    private static boolean isHosted(Mutant mutant) {
        return !SUITE.equals("few") && !mutant.hasMiddleman();
    }

    private boolean isJudged(Mutant mutant) {
        return mutant.id().matches(WHICH)
                && (!SUITE.equals("part") || !mutant.isSecondForm() || isDue(mutant));
    }

    private boolean isWhole(Mutant mutant) {
        return !mutant.isSecondForm()
                && (SUITE.equals("whole") || (SUITE.equals("part") && isDue(mutant)));
    }

    private boolean isDue(Mutant mutant) {
        return Math.floorMod(mutant.id().hashCode(), PARTS) == part;
    }
}
