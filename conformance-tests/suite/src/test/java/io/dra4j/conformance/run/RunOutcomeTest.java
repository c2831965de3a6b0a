// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.KubernetesServer;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.run.RunOutcome.Success;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The outcome of a profile that was not checked as a whole. */
class RunOutcomeTest {

    private static final Catalogue CATALOGUE = Catalogue.load();

    private final List<Result> results = new ArrayList<>();

    private RunOutcomeTest and(String id, Verdict verdict) {
        results.add(new Result(CATALOGUE.find(id).orElseThrow(), "", verdict, "", Duration.ZERO, Evidence.NONE));
        return this;
    }

    private RunOutcome outcome(String... declared) {
        Header header = new Header(
                "",
                "",
                0,
                new KubernetesServer("1.36", "embedded", Map.of()),
                "process",
                "gpu.example.com",
                List.of(),
                Map.of(),
                List.of(),
                List.of(declared),
                1,
                false,
                Instant.EPOCH,
                Duration.ZERO,
                "");
        return new RunOutcome(header, CATALOGUE.profiles(), results);
    }

    private Success publishing() {
        return outcome().profileOutcomes().stream()
                .filter(profile -> profile.profile().name().equals("publishing"))
                .findFirst()
                .orElseThrow()
                .success();
    }

    @Test
    void aHookThatIsNotThereLeavesASuccess() {
        and("DRA-SLICE-01", Verdict.PASS).and("DRA-SLICE-12", Verdict.UNTESTED);

        assertThat(publishing()).isEqualTo(Success.SUCCESS);
        assertThat(outcome().exitCode()).isZero();
    }

    @Test
    void aProfileOfWhichNothingCouldBeTriedIsNoSuccess() {
        and("DRA-SLICE-12", Verdict.UNTESTED).and("DRA-SLICE-09", Verdict.NOT_APPLICABLE);

        assertThat(publishing()).isEqualTo(Success.PARTIAL);
        assertThat(outcome().exitCode()).isEqualTo(2);
    }

    @Test
    void aCoreProfileInWhichNoDeviceWasTriedIsNoSuccess() {
        and("DRA-REG-01", Verdict.PASS).and("DRA-PREP-01", Verdict.UNTESTED);

        assertThat(outcome().exitCode()).isEqualTo(2);
    }

    @Test
    void whatTheSettingsLeaveOutMakesItPartial() {
        and("DRA-SLICE-01", Verdict.PASS).and("DRA-SLICE-12", Verdict.SKIPPED);

        assertThat(publishing()).isEqualTo(Success.PARTIAL);
        assertThat(outcome().exitCode()).isEqualTo(2);
    }

    @Test
    void aCoreProfileThatTheDriverHasNothingForIsNoSuccess() {
        and("DRA-SLICE-09", Verdict.NOT_APPLICABLE);

        assertThat(publishing()).isEqualTo(Success.PARTIAL);
        assertThat(outcome().exitCode()).isEqualTo(2);
        assertThat(outcome("no-devices").exitCode()).isZero();
    }

    @Test
    void aCoreProfileWhoseClaimsHadNoDeviceIsNoSuccess() {
        and("DRA-REG-01", Verdict.PASS).and("DRA-PREP-01", Verdict.NOT_APPLICABLE);

        assertThat(outcome().exitCode()).isEqualTo(2);
        assertThat(outcome("no-devices").exitCode()).isZero();
        assertThat(outcome("no-cdi").exitCode()).isEqualTo(2);
    }

    @Test
    void aDriverWithoutCdiIsASuccessIfThatIsDeclared() {
        and("DRA-PREP-01", Verdict.PASS).and("DRA-CDI-01", Verdict.NOT_APPLICABLE);

        assertThat(outcome().exitCode()).isEqualTo(2);
        assertThat(outcome("no-cdi").exitCode()).isZero();
    }

    @Test
    void anOptionalProfileThatTheDriverHasNothingForIsNotApplicable() {
        and("DRA-META-01", Verdict.NOT_APPLICABLE);

        assertThat(outcome().exitCode()).isZero();
    }
}
