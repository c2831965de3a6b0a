// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.selfcheck.AlteredDrivers.Expected;
import io.dra4j.testkit.driver.MountNamespace;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The suite finds no violation in a conforming variant: it is run on each with the requirements
 * that a suite with a narrower view would find violated. {@link Build} selects the variants.
 */
@Tag("gate")
@Execution(ExecutionMode.CONCURRENT)
class ConformingVariantsIT {

    private static final boolean WHOLE = Build.CURRENT == Build.WHOLE;
    private static final Set<Verdict> GREEN = Set.of(Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.UNTESTED);

    /** Those that take longest come first. */
    static Stream<Arguments> variants() {
        return Build.select(AlteredDrivers.variants(), "dra4j.variants", Variant::id, Variant::from).stream()
                .filter(variant -> variant.core() || !WHOLE)
                .sorted(Comparator.comparing(Variant::from)
                        .thenComparing(Variant::slow)
                        .reversed())
                .flatMap(variant -> Build.seeds(variant.id())
                        .map(seed -> Arguments.of(Named.of(variant.id() + " " + variant.what(), variant), seed)));
    }

    @ParameterizedTest(name = "{0}, seed {1}")
    @MethodSource("variants")
    void violatesNothing(Variant variant, long seed) throws Exception {
        String missing = variant.namespace() ? MountNamespace.missing() : "";
        assumeTrue(missing.isEmpty(), "no mount namespace can be made here: " + missing);

        RunOutcome outcome = Runner.run(variant, isCore(variant) ? Runner.core() : few(variant), seed);

        assertThat(Stream.of(
                                due(variant.passes(), Verdict.PASS, outcome),
                                due(variant.notApplicable(), Verdict.NOT_APPLICABLE, outcome),
                                due(variant.untested(), Verdict.UNTESTED, outcome),
                                variant.notes().stream().filter(note -> !isNoted(note, outcome)),
                                Answers.unmatched(variant.answers()),
                                notWarned(variant, outcome),
                                unexpected(variant, outcome))
                        .flatMap(each -> each))
                .isEmpty();
    }

    /** Returns whether all core profiles are run: with the slowest variant they take 45 minutes. */
    private static boolean isCore(Variant variant) {
        return WHOLE && !(variant.slow() && variant.from() == Build.WHOLE);
    }

    private static String few(Variant variant) {
        List<String> requirements = Stream.of(
                        variant.passes().stream(),
                        variant.notApplicable().stream(),
                        variant.untested().stream(),
                        AlteredDrivers.expected(variant.violations()).stream().map(Expected::requirement))
                .flatMap(each -> each)
                .toList();
        return variant.slow() ? Runner.only(requirements) : Runner.withControls(requirements);
    }

    /** The requirements with another verdict. */
    private static Stream<String> due(List<String> ids, Verdict verdict, RunOutcome outcome) {
        return ids.stream().flatMap(id -> {
            List<Result> results = Runner.results(outcome, id);
            return results.isEmpty() && !WHOLE
                    ? Stream.of(id + " was not tried")
                    : results.stream()
                            .filter(result -> result.verdict() != verdict)
                            .map(Runner::text);
        });
    }

    private static boolean isNoted(String words, RunOutcome outcome) {
        return outcome.notes().stream().anyMatch(note -> note.contains(words));
    }

    private static Stream<String> notWarned(Variant variant, RunOutcome outcome) {
        return AlteredDrivers.expected(variant.violations()).stream()
                .flatMap(warned -> Runner.results(outcome, warned.requirement()).stream()
                        .filter(result -> !isWarnedOf(variant, result))
                        .map(Runner::text));
    }

    private static boolean isWarnedOf(Variant variant, Result result) {
        return result.verdict() == Verdict.WARN
                && AlteredDrivers.expected(variant.violations()).stream()
                        .anyMatch(warned ->
                                warned.requirement().equals(result.requirement().id())
                                        && result.message().contains(warned.message()));
    }

    private static Stream<String> unexpected(Variant variant, RunOutcome outcome) {
        return outcome.results().stream()
                .filter(result -> !GREEN.contains(result.verdict()))
                .filter(result -> !isWarnedOf(variant, result))
                .map(Runner::text);
    }
}
