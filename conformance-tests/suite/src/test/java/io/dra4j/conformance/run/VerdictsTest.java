// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Verdicts.Ended;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requirements that are blocked by a failed one. */
class VerdictsTest {

    private static final Catalogue CATALOGUE = Catalogue.load();

    private final Verdicts verdicts = new Verdicts(CATALOGUE.requirements(), CATALOGUE.profiles());

    private static Requirement requirement(String id) {
        return CATALOGUE.find(id).orElseThrow();
    }

    private void ends(String id, Verdict verdict, String part) {
        Result result = new Result(requirement(id), "", verdict, "", Duration.ZERO, Evidence.NONE, List.of());
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
        ends("DRA-CDI-02", Verdict.PASS, "");
        ends("DRA-SHUT-01", Verdict.FAIL, "");

        assertThat(isBlocked("DRA-SHUT-02")).isTrue();
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
