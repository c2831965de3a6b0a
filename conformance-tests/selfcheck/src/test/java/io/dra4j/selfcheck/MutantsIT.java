// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.selfcheck.AlteredDrivers.Expected;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The suite catches each mutant: the requirements that it violates fail for the reason that is expected, and no other
 * that is tried. {@link Build} selects the mutants.
 *
 * <p>In a run of the whole suite, what earlier requirements left can change the reason: {@link Mutant#reasonVaries}.
 */
@Tag("gate")
@Execution(ExecutionMode.CONCURRENT)
class MutantsIT {

    private static final boolean WHOLE = Build.CURRENT == Build.WHOLE;

    /** A part of a MUST can be a SHOULD; the message shows which was violated. */
    private static final Set<Verdict> VIOLATED = Set.of(Verdict.FAIL, Verdict.WARN, Verdict.INFO);

    /** Those for which the suite waits longest come first. */
    static Stream<Arguments> mutants() {
        return Build.select(AlteredDrivers.mutants(), "dra4j.mutants", Mutant::id, Mutant::from).stream()
                .sorted(Comparator.comparing(Mutant::timeoutFactor))
                .flatMap(mutant -> Build.seeds(mutant.id())
                        .map(seed -> Arguments.of(Named.of(mutant.id() + " " + mutant.what(), mutant), seed)));
    }

    @ParameterizedTest(name = "{0}, seed {1}")
    @MethodSource("mutants")
    void isCaught(Mutant mutant, long seed) throws Exception {
        RunOutcome outcome = Runner.run(mutant, WHOLE, seed);

        assertThat(Stream.of(missed(mutant, outcome), unexpected(mutant, outcome), unexplained(outcome))
                        .flatMap(each -> each))
                .isEmpty();
    }

    /** Results that are blocked by a requirement that was tried, and that the driver does not break. */
    private static Stream<String> unexplained(RunOutcome outcome) {
        return outcome.results().stream()
                .filter(result -> !result.blockedBy().isEmpty())
                .filter(result -> isUnbroken(Runner.results(outcome, result.blockedBy())))
                .map(result -> Runner.text(result) + ", blocked by " + result.blockedBy());
    }

    private static boolean isUnbroken(List<Result> causes) {
        return !causes.isEmpty() && causes.stream().noneMatch(cause -> VIOLATED.contains(cause.verdict()));
    }

    private static Stream<String> missed(Mutant mutant, RunOutcome outcome) {
        return AlteredDrivers.expected(mutant.violations()).stream()
                .filter(violation -> Runner.results(outcome, violation.requirement()).stream()
                        .noneMatch(result -> shows(mutant, violation, result)))
                .map(violation -> "not caught: \"%s\" in %s"
                        .formatted(violation.message(), texts(outcome, violation.requirement())));
    }

    private static boolean shows(Mutant mutant, Expected violation, Result result) {
        return VIOLATED.contains(result.verdict())
                && (WHOLE && mutant.reasonVaries() || result.message().contains(violation.message()));
    }

    private static List<String> texts(RunOutcome outcome, String id) {
        return Runner.results(outcome, id).stream().map(Runner::text).toList();
    }

    private static Stream<String> unexpected(Mutant mutant, RunOutcome outcome) {
        Set<String> expected = Stream.concat(
                        AlteredDrivers.expected(mutant.violations()).stream().map(Expected::requirement),
                        mutant.collateral().stream())
                .collect(Collectors.toSet());
        return outcome.results().stream()
                .filter(result -> result.verdict() == Verdict.SUITE_ERROR
                        || (result.verdict() == Verdict.FAIL
                                && !expected.contains(result.requirement().id())))
                .map(Runner::text);
    }
}
