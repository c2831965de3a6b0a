// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Verdicts.Ended;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Requirements that are blocked by a failed one. */
class VerdictsTest {

    private static final Catalogue CATALOGUE = Catalogue.load();

    private final Verdicts verdicts = new Verdicts(CATALOGUE.requirements(), CATALOGUE.profiles());

    private static Requirement requirement(String id) {
        return CATALOGUE.find(id).orElseThrow();
    }

    private void ends(String id, Verdict verdict, String part) {
        ends(id, verdict, part, "");
    }

    private void ends(String id, Verdict verdict, String part, String blockedBy) {
        Result result =
                new Result(requirement(id), "", verdict, "", Duration.ZERO, Evidence.NONE, List.of(), blockedBy);
        verdicts.ended(result.requirement(), List.of(new Ended(result, part)));
    }

    private boolean isBlocked(String id) {
        return verdicts.broken(requirement(id)).isPresent();
    }

    @Test
    void aFailureInACoreProfileBlocksAllThatNeedsIt() {
        ends("DRA-REG-01", Verdict.PASS, "");
        ends("DRA-INFO-04", Verdict.PASS, "");
        ends("DRA-INFO-03", Verdict.FAIL, "");

        assertThat(isBlocked("DRA-PREP-01")).isTrue();
        assertThat(isBlocked("DRA-UPG-01")).isFalse();
    }

    @Test
    void aFailureOfTheOptionalPartOfARuleBlocksNothingElse() {
        ends("DRA-REG-01", Verdict.PASS, "");
        ends("DRA-INFO-04", Verdict.PASS, "");
        ends("DRA-INFO-03", Verdict.FAIL, "seamless-upgrade");

        assertThat(isBlocked("DRA-PREP-01")).isFalse();
    }

    @Test
    void aFailureInAnOptionalProfileBlocksThatProfile() {
        ends("DRA-HLT-01", Verdict.FAIL, "");

        assertThat(isBlocked("DRA-HLT-02")).isTrue();
    }

    @Test
    void theFirstCauseIsNamed() {
        ends("DRA-PREP-05", Verdict.BLOCKED, "", "DRA-REG-01");

        Closed closed = verdicts.blockedBy("DRA-PREP-05", "");

        assertThat(closed.by()).isEqualTo("DRA-REG-01");
        assertThat(closed.reason()).isEqualTo("needs DRA-PREP-05, which DRA-REG-01 blocks");
    }

    @Test
    void aViolationAboutARequirementThatFailsIsExplainedByIt() {
        ends("DRA-PREP-05", Verdict.FAIL, "");

        assertThat(explained("DRA-PREP-13", "DRA-PREP-05").map(Closed::by)).contains("DRA-PREP-05");
        assertThat(explained("DRA-PREP-13", "")).isEmpty();
        assertThat(explained("DRA-PREP-05", "DRA-PREP-05")).isEmpty();
        assertThat(explained("DRA-PREP-04", "DRA-PREP-05"))
                .as("tried before it")
                .isEmpty();
    }

    @Test
    void aViolationAboutARequirementThatHoldsIsTheRulesOwn() {
        ends("DRA-PREP-05", Verdict.PASS, "");

        assertThat(explained("DRA-PREP-13", "DRA-PREP-05")).isEmpty();
    }

    private Optional<Closed> explained(String id, String root) {
        return verdicts.explained(requirement(id), new Violation("seen").about(root), false);
    }

    @Test
    void inTheEndTheOrderDoesNotMatter() {
        ends("DRA-SLICE-14", Verdict.WARN, "");

        Violation violation = new Violation("seen").about("DRA-SLICE-14");
        assertThat(verdicts.explained(requirement("DRA-REG-03"), violation, true))
                .isPresent();
    }

    @Test
    void noCoreRequirementNeedsAnOptionalOne() {
        for (Requirement requirement : CATALOGUE.requirements()) {
            if (isCore(requirement)) {
                assertThat(requirement.needs()).as(requirement.id()).allMatch(need -> isCore(requirement(need)));
            }
        }
    }

    private static boolean isCore(Requirement requirement) {
        return CATALOGUE.profiles().stream().anyMatch(p -> p.core() && p.name().equals(requirement.profile()));
    }
}
