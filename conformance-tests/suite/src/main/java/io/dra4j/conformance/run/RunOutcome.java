// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.requirements.Applicability;
import io.dra4j.conformance.requirements.Profile;
import io.dra4j.conformance.settings.TestedDriver;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The outcome of a run.
 *
 * @param profiles the profiles of the catalogue, in its order
 * @param results in the order of the catalogue
 * @param notes other remarks, on the list of known failures for example; a sentence each
 */
public record RunOutcome(Header header, List<Profile> profiles, List<Result> results, List<String> notes) {

    public RunOutcome {
        profiles = List.copyOf(profiles);
        results = List.copyOf(results);
        notes = List.copyOf(notes);
    }

    public RunOutcome(Header header, List<Profile> profiles, List<Result> results) {
        this(header, profiles, results, List.of());
    }

    /** The outcome of a profile. */
    public enum Success {
        /** Every MUST holds. */
        SUCCESS,
        /** No MUST is broken, but some were not answered, or nothing could be checked. */
        PARTIAL,
        /** A MUST is broken. */
        FAILURE,
        /** No requirement of it applies to the driver, or was requested. */
        NOT_APPLICABLE
    }

    /** The outcome of a profile, and how many of its results have each of their verdicts. */
    public record ProfileOutcome(Profile profile, Success success, Map<Verdict, Integer> statistics) {}

    /** Returns the outcome of each profile, in the order of the catalogue. */
    public List<ProfileOutcome> profileOutcomes() {
        return profiles.stream().map(this::outcome).toList();
    }

    public List<Result> of(Profile profile) {
        return results.stream()
                .filter(result -> result.requirement().profile().equals(profile.name()))
                .toList();
    }

    public List<Result> with(Verdict verdict) {
        return results.stream().filter(result -> result.verdict() == verdict).toList();
    }

    private ProfileOutcome outcome(Profile profile) {
        Map<Verdict, Integer> statistics = new EnumMap<>(Verdict.class);
        of(profile).forEach(result -> statistics.merge(result.verdict(), 1, Integer::sum));
        return new ProfileOutcome(profile, success(profile), statistics);
    }

    private Success success(Profile profile) {
        List<Result> own = of(profile);
        if (has(own, Verdict.FAIL)) {
            return Success.FAILURE;
        }
        if (has(own, Verdict.SUITE_ERROR)
                || has(own, Verdict.BLOCKED)
                || has(own, Verdict.DEVIATION)
                || has(own, Verdict.SKIPPED)) {
            return Success.PARTIAL;
        }
        List<Result> withDevices = own.stream()
                .filter(r -> r.requirement().gates().contains(Applicability.DEV1))
                .toList();
        boolean due = profile.core() && !TestedDriver.lacks(header.declared(), profile.name());
        if (isUntried(own, due) || isUntried(withDevices, due)) {
            return Success.PARTIAL;
        }
        return own.stream().allMatch(RunOutcome::saysNothing) ? Success.NOT_APPLICABLE : Success.SUCCESS;
    }

    /**
     * Returns whether none of these could be checked although they may apply: those of a core profile do, unless the
     * settings declare that the driver has nothing to try them with.
     */
    private static boolean isUntried(List<Result> some, boolean due) {
        return !some.isEmpty()
                && some.stream().allMatch(RunOutcome::saysNothing)
                && (due || some.stream().anyMatch(RunOutcome::lacksMeans));
    }

    private static boolean has(List<Result> results, Verdict verdict) {
        return results.stream().anyMatch(result -> result.verdict() == verdict);
    }

    /** Returns whether there is a check that this run could not make. */
    public static boolean lacksMeans(Result result) {
        return result.verdict() == Verdict.UNTESTED
                && result.requirement().untested().isEmpty();
    }

    private static boolean saysNothing(Result result) {
        return result.verdict() == Verdict.NOT_APPLICABLE || result.verdict() == Verdict.UNTESTED;
    }

    /**
     * The exit status of the program: 0 if all passed, 1 if a MUST is broken, 2 if a core profile
     * is partial, 3 if the suite itself failed.
     */
    public int exitCode() {
        if (has(results, Verdict.SUITE_ERROR)) {
            return 3;
        }
        if (has(results, Verdict.FAIL)) {
            return 1;
        }
        boolean partial =
                profiles.stream().filter(Profile::core).anyMatch(profile -> success(profile) == Success.PARTIAL);
        return partial ? 2 : 0;
    }
}
