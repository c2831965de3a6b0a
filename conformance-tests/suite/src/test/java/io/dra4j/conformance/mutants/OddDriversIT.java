// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.driver.MountNamespace;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The suite finds nothing wrong with drivers that are unusual and well: each is tried with the
 * requirements that its oddity would break in a suite with a narrower view, and the canaries.
 *
 * <p>{@code -Ddra4j.odd.suite=whole} tries all core profiles, and the slowest driver, too; the
 * profile {@code full} tries one that takes a minute for each repair; {@code -Ddra4j.odd=H-7} tries
 * one.
 */
@Tag("alone")
class OddDriversIT {

    private static final int LANES = 3;
    private static final boolean WHOLE = System.getProperty("dra4j.odd.suite", "").equals("whole");
    private static final String FEW =
            Boolean.getBoolean("dra4j.full") ? "(?!H-9a).*" : "(?!H-9a|H-24b).*";

    /** The whole suite has no time for what has short limits. */
    private static final String WHICH =
            System.getProperty("dra4j.odd", WHOLE ? "(?!H-24$).*" : FEW);

    @Test
    void everyOddDriverStaysGreen() throws Exception {
        OddJudge judge = new OddJudge(WHOLE);
        List<Oddity> drivers =
                Mutant.odd().stream()
                        .filter(odd -> odd.id().matches(WHICH))
                        .filter(OddDriversIT::canBeRun)
                        .toList();
        Map<Oddity, List<String>> wronged = Lineup.complaints(drivers, LANES, judge::complaints);
        System.out.printf(
                "%d odd drivers, %d green%n", drivers.size(), drivers.size() - wronged.size());
        assertThat(drivers).isNotEmpty();
        assertThat(wronged).isEmpty();
    }

    private static boolean canBeRun(Oddity odd) {
        String missing = odd.namespace() ? MountNamespace.missing() : "";
        if (!missing.isEmpty()) {
            System.out.println("Not tried: " + odd + ": no mount namespace here: " + missing);
        }
        return missing.isEmpty();
    }
}
