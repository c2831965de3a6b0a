// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Requirements without an answer for one reason: what blocks them, or what this run lacks to check them. */
record NotJudged(Verdict verdict, String reason, Set<String> ids) {

    private static final int LONG = 200;
    private static final List<Verdict> VERDICTS =
            List.of(Verdict.BLOCKED, Verdict.UNTESTED, Verdict.SKIPPED, Verdict.NOT_APPLICABLE);

    /** All of an outcome: first the blocked ones, and for each verdict the most common reason first. */
    static List<NotJudged> of(RunOutcome outcome) {
        return VERDICTS.stream()
                .flatMap(verdict -> {
                    Map<String, Set<String>> groups = new LinkedHashMap<>();
                    for (Result one : outcome.with(verdict)) {
                        groups.computeIfAbsent(reason(one), reason -> new TreeSet<>())
                                .add(one.requirement().id());
                    }
                    return groups.entrySet().stream()
                            .map(group -> new NotJudged(verdict, group.getKey(), group.getValue()))
                            .sorted(Comparator.comparing(group -> -group.ids().size()));
                })
                .toList();
    }

    private static String reason(Result result) {
        if (!result.blockedBy().isEmpty()) {
            return "blocked by " + result.blockedBy();
        }
        if (result.verdict() == Verdict.UNTESTED && !RunOutcome.lacksMeans(result)) {
            return "untested, the suite has no check for it";
        }
        return Wording.label(result.verdict()) + ", " + Excerpt.line(result.message(), LONG);
    }

    /** For example "blocked by DRA-PREP-05: 2 requirements: DRA-RST-01 DRA-RST-04". */
    @Override
    public String toString() {
        return "%s: %s: %s".formatted(reason, Wording.count(ids.size(), "requirement"), String.join(" ", ids));
    }
}
