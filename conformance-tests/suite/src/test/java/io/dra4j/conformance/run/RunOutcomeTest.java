// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.conformance.context.KubernetesServer;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.RunOutcome.Success;
import io.dra4j.conformance.run.Verdicts.Ended;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.settings.SettingsException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A run's requirements in their order, those that a failed one blocks, and the outcome of its profiles. */
class RunOutcomeTest {

    private static final Catalogue CATALOGUE = Catalogue.load();

    private static Result result(String words) {
        String[] parts = words.split(" ");
        return new Result(
                CATALOGUE.find("DRA-" + parts[0]).orElseThrow(),
                "",
                Verdict.valueOf(parts[1]),
                "",
                Duration.ZERO,
                Evidence.NONE);
    }

    private static RunOutcome outcome(List<Result> results, List<String> declared) {
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
                declared,
                1,
                false,
                Instant.EPOCH,
                Duration.ZERO,
                "");
        return new RunOutcome(header, CATALOGUE.profiles(), results);
    }

    private static Success publishing(RunOutcome outcome) {
        return outcome.profileOutcomes().stream()
                .filter(profile -> profile.profile().name().equals("publishing"))
                .findFirst()
                .orElseThrow()
                .success();
    }

    @ParameterizedTest(name = "{0} {2}")
    @CsvSource(delimiter = '|', textBlock = """
                    a hook that is not there leaves a success        | SLICE-01 PASS, SLICE-12 UNTESTED           |            | SUCCESS | 0
                    a profile of which nothing could be tried is none | SLICE-12 UNTESTED, SLICE-09 NOT_APPLICABLE |           | PARTIAL | 2
                    nor one in which no device was tried             | REG-01 PASS, PREP-01 UNTESTED              |            |         | 2
                    what the settings leave out makes it partial     | SLICE-01 PASS, SLICE-12 SKIPPED            |            | PARTIAL | 2
                    nor one that the driver has nothing for          | SLICE-09 NOT_APPLICABLE                    |            | PARTIAL | 2
                    unless that is declared                          | SLICE-09 NOT_APPLICABLE                    | no-devices |         | 0
                    nor one whose claims had no device               | REG-01 PASS, PREP-01 NOT_APPLICABLE        |            |         | 2
                    unless that is declared                          | REG-01 PASS, PREP-01 NOT_APPLICABLE        | no-devices |         | 0
                    and not something else                           | REG-01 PASS, PREP-01 NOT_APPLICABLE        | no-cdi     |         | 2
                    nor one without CDI                              | PREP-01 PASS, CDI-01 NOT_APPLICABLE        |            |         | 2
                    unless that is declared                          | PREP-01 PASS, CDI-01 NOT_APPLICABLE        | no-cdi     |         | 0
                    an optional profile may not be applicable        | META-01 NOT_APPLICABLE                     |            |         | 0
                    """)
    void aCoreProfileThatWasNotCheckedIsNoSuccess(
            String why, String results, @Nullable String declared, @Nullable Success publishing, int exitCode) {
        RunOutcome outcome = outcome(
                Stream.of(results.split(", ")).map(RunOutcomeTest::result).toList(),
                Stream.ofNullable(declared).toList());

        assertThat(outcome.exitCode()).isEqualTo(exitCode);
        if (publishing != null) {
            assertThat(publishing(outcome)).isEqualTo(publishing);
        }
    }

    @Nested
    class Blocking {

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
            return CATALOGUE.profiles().stream()
                    .anyMatch(p -> p.core() && p.name().equals(requirement.profile()));
        }
    }

    private static List<Requirement> plan(String more) {
        Settings settings = SettingsReader.parse(
                "driver: {name: gpu.example.com, process: {command: [driver]}}\n" + more, "the test", Map.of());
        RunPlan.check(CATALOGUE, settings);
        return RunPlan.of(
                CATALOGUE, settings, settings.apiServer().gates().version().minor());
    }

    private static List<String> ids(List<Requirement> requirements) {
        return requirements.stream().map(Requirement::id).toList();
    }

    @Test
    void aRequirementComesAfterThoseThatItNeeds() {
        Set<String> before = new HashSet<>();
        for (Requirement requirement : plan("")) {
            assertThat(before).containsAll(requirement.needs());
            before.add(requirement.id());
        }
        assertThat(before).hasSizeGreaterThan(100);
    }

    @Test
    void whatOthersNeedComesFirstOfAll() {
        List<Requirement> plan = plan("");
        Set<String> needed =
                plan.stream().flatMap(each -> each.needs().stream()).collect(Collectors.toSet());
        needed.addAll(List.of("DRA-SHUT-01", "DRA-SLICE-19")); // which explain failures of others

        assertThat(ids(plan.subList(0, needed.size()))).containsExactlyInAnyOrderElementsOf(needed);
    }

    @ParameterizedTest
    @CsvSource({"1.36, DRA-VER-01, DRA-HLT-08", "1.38, DRA-HLT-08, DRA-VER-01"})
    void aRequirementMayBeOfSomeReleases(String release, String one, String other) {
        assertThat(ids(plan("apiServer: {kubernetes: '%s'}".formatted(release))))
                .contains(one)
                .doesNotContain(other);
    }

    @Test
    void theSeedDecidesTheOrder() {
        assertThat(ids(plan("seed: 7"))).isEqualTo(ids(plan("seed: 7"))).isNotEqualTo(ids(plan("seed: 8")));
        assertThat(ids(plan("seed: 7"))).containsExactlyInAnyOrderElementsOf(ids(plan("seed: 8")));
    }

    @Test
    void whatIsAskedForBringsWhatItNeeds() {
        assertThat(ids(plan("only: [DRA-SLICE-08]"))).containsExactly("DRA-SLICE-01", "DRA-SLICE-03", "DRA-SLICE-08");
    }

    @Test
    void anIdThatIsUnknownIsNamed() {
        assertThatThrownBy(() -> plan("only: [DRA-SLICE-99]"))
                .isInstanceOf(SettingsException.class)
                .hasMessageContaining("DRA-SLICE-99");
    }
}
