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

        /** Ends requirements with their verdicts, in parts of their rules. */
        private void end(String results) {
            for (String words : results.split(", ")) {
                String part = words.split(" ").length > 2 ? words.split(" ")[2] : "";
                Result result = result(words);
                verdicts.ended(result.requirement(), List.of(new Ended(result, part)));
            }
        }

        @ParameterizedTest
        @CsvSource(delimiter = '|', textBlock = """
                        a failure in a core profile blocks all that needs it | REG-01 PASS, INFO-04 PASS, INFO-03 FAIL                  | PREP-01 | true
                        and nothing else                                     | REG-01 PASS, INFO-04 PASS, INFO-03 FAIL                  | UPG-01  | false
                        nor does one of the optional part of a rule          | REG-01 PASS, INFO-04 PASS, INFO-03 FAIL seamless-upgrade | PREP-01 | false
                        one in an optional profile blocks that profile       | HLT-01 FAIL                                              | HLT-02  | true
                        """)
        void aFailureBlocksWhatNeedsIt(String why, String results, String id, boolean blocked) {
            end(results);

            assertThat(verdicts.broken(requirement("DRA-" + id)).isPresent()).isEqualTo(blocked);
        }

        @Test
        void theFirstCauseIsNamed() {
            Requirement blocked = requirement("DRA-PREP-05");
            Result result =
                    new Result(blocked, "", Verdict.BLOCKED, "", Duration.ZERO, Evidence.NONE, List.of(), "DRA-REG-01");
            verdicts.ended(blocked, List.of(new Ended(result, "")));

            Closed closed = verdicts.blockedBy("DRA-PREP-05", "");

            assertThat(closed.by()).isEqualTo("DRA-REG-01");
            assertThat(closed.reason()).isEqualTo("needs DRA-PREP-05, which DRA-REG-01 blocks");
        }

        @ParameterizedTest
        @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                        a violation about a requirement that fails is explained by it  | PREP-05 FAIL  | PREP-13 | DRA-PREP-05  | false | true
                        and not one about none                                         | PREP-05 FAIL  | PREP-13 | ``           | false | false
                        nor its own                                                    | PREP-05 FAIL  | PREP-05 | DRA-PREP-05  | false | false
                        nor that of one which is tried before it                       | PREP-05 FAIL  | PREP-04 | DRA-PREP-05  | false | false
                        nor one about a requirement that holds                         | PREP-05 PASS  | PREP-13 | DRA-PREP-05  | false | false
                        in the end, the order does not matter                          | SLICE-14 WARN | REG-03  | DRA-SLICE-14 | true  | true
                        """)
        void aViolationIsExplainedByItsRoot(
                String why, String results, String id, String root, boolean inTheEnd, boolean explained) {
            end(results);

            assertThat(verdicts.explained(requirement("DRA-" + id), new Violation("seen").about(root), inTheEnd)
                            .map(Closed::by))
                    .isEqualTo(explained ? Optional.of(root) : Optional.empty());
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
                .hasMessageContaining("DRA-SLICE-99; the nearest are DRA-SLICE-09, ");
    }
}
