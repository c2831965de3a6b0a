// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.run.Header;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.RunOutcome.ProfileOutcome;
import io.dra4j.conformance.run.Verdict;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The words of all reports: verdicts, times, and the outcome in a sentence. */
final class Wording {

    static final String NO_CERTIFICATION =
            "Passing this suite is not a CNCF certification: the CNCF certifies platforms, and has no program for drivers. It is what this suite has seen of this driver, on one machine, at one time.";

    /** The verdicts by severity; results of checks come before verdicts without one. */
    static final List<Verdict> WORST_FIRST = List.of(
            Verdict.FAIL,
            Verdict.SUITE_ERROR,
            Verdict.DEVIATION,
            Verdict.WARN,
            Verdict.INFO,
            Verdict.PASS,
            Verdict.BLOCKED,
            Verdict.UNTESTED,
            Verdict.SKIPPED,
            Verdict.NOT_APPLICABLE);

    private static final List<String> IMPLEMENTATION =
            List.of("organization", "project", "url", "version", "contact", "language");

    private Wording() {}

    /** The verdict as a label, for example {@code not applicable}. */
    static String label(Verdict verdict) {
        return verdict.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** The verdict as a key, for example {@code notApplicable}. */
    static String key(Verdict verdict) {
        return switch (verdict) {
            case NOT_APPLICABLE -> "notApplicable";
            case SUITE_ERROR -> "suiteError";
            default -> label(verdict);
        };
    }

    /** Returns the meaning of a verdict, for a first reader. */
    static String meaning(Verdict verdict) {
        return switch (verdict) {
            case PASS -> "The driver does what the rule requires, as far as the check can see.";
            case FAIL -> "The driver breaks a rule that it must follow.";
            case WARN -> "The driver breaks a rule that it should follow.";
            case INFO -> "The driver leaves out what it may leave out.";
            case NOT_APPLICABLE -> "The driver does not have or declare what the rule is about.";
            case BLOCKED -> "Another requirement, without which this one can't be judged, has failed.";
            case UNTESTED -> "The rule was not tested, for the reason given.";
            case SKIPPED -> "The settings leave the rule out.";
            case DEVIATION -> "The driver breaks the rule, and its vendor has listed this as a known failure.";
            case SUITE_ERROR -> "The suite itself failed: this says nothing about the driver.";
        };
    }

    static String took(Duration took) {
        long millis = took.toMillis();
        if (millis < 1000) {
            return millis + " ms";
        }
        if (millis < 60_000) {
            return String.format(Locale.ROOT, "%.1f s", millis / 1000.0);
        }
        return millis / 60_000 + " min " + millis / 1000 % 60 + " s";
    }

    /** The outcome in two or three words. */
    static String headline(RunOutcome outcome) {
        return switch (outcome.exitCode()) {
            case 0 -> "Passed";
            case 1 -> "Failed";
            case 2 -> "Partly passed";
            default -> "No verdict";
        };
    }

    /** Explains the outcome in a sentence or two. */
    static String sentence(RunOutcome outcome) {
        long failed = requirements(outcome, Verdict.FAIL);
        return switch (outcome.exitCode()) {
            case 0 ->
                "The driver follows every rule that it must follow"
                        + excused(outcome)
                        + warned(outcome)
                        + "."
                        + untested(outcome);
            case 1 -> broken(failed) + warned(outcome) + ".";
            case 2 ->
                "The driver breaks no rule that it must follow, except for known failures. Core profiles that are partial, because of these or because not everything was tested: "
                        + partial(outcome)
                        + ".";
            default ->
                "The suite itself failed in "
                        + count(requirements(outcome, Verdict.SUITE_ERROR), "check")
                        + ", so the result is incomplete."
                        + (failed == 0 ? "" : " " + broken(failed) + warned(outcome) + ".");
        };
    }

    /** The failure that blocks most others: the first one to look at. */
    static Optional<String> worst(RunOutcome outcome) {
        return outcome.with(Verdict.FAIL).stream()
                .map(result -> result.requirement().id())
                .distinct()
                .max(Comparator.comparingLong(id -> outcome.results().stream()
                        .filter(result -> result.blockedBy().equals(id))
                        .count()));
    }

    private static String broken(long failed) {
        return "The driver breaks " + count(failed, "rule") + " that it must follow";
    }

    private static String warned(RunOutcome outcome) {
        long warned = requirements(outcome, Verdict.WARN);
        return warned == 0 ? "" : ", and breaks " + warned + " that it should follow";
    }

    /** The part of a success that the vendor has listed as known failures, of profiles that are not core. */
    private static String excused(RunOutcome outcome) {
        long known = requirements(outcome, Verdict.DEVIATION);
        return known == 0 ? "" : ", except for " + count(known, "known failure");
    }

    /** The part of a success that this run lacked the means to check. */
    private static String untested(RunOutcome outcome) {
        long untested =
                outcome.results().stream().filter(RunOutcome::lacksMeans).count();
        return untested == 0 ? "" : " Not tested, for the reasons in the report: " + count(untested, "check") + ".";
    }

    private static String partial(RunOutcome outcome) {
        return outcome.profileOutcomes().stream()
                .filter(profile -> profile.profile().core())
                .filter(profile -> grade(profile).equals("partial"))
                .map(profile -> profile.profile().name())
                .collect(Collectors.joining(", "));
    }

    static String grade(ProfileOutcome profile) {
        return profile.success().name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** Returns the data of the implementation: first the keys that reports have, in their order, then others. */
    static Map<String, String> implementation(Header header) {
        Map<String, String> given = new TreeMap<>(header.implementation());
        Map<String, String> ordered = new LinkedHashMap<>();
        for (String key : IMPLEMENTATION) {
            if (given.containsKey(key)) {
                ordered.put(key, given.remove(key));
            }
        }
        ordered.putAll(given);
        return ordered;
    }

    static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    /** Returns how many requirements have a verdict in at least one variant. */
    private static long requirements(RunOutcome outcome, Verdict verdict) {
        return outcome.with(verdict).stream()
                .map(one -> one.requirement().id())
                .distinct()
                .count();
    }
}
