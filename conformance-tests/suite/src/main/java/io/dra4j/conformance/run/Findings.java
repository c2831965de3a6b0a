// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.Calls.Finding;
import io.dra4j.conformance.context.Violation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Faults of answers, seen in checks of other requirements. Those of a check that did not hold do not
 * count: its subject explains them. Thread-safe.
 */
final class Findings {

    private static final Set<Verdict> SOUND = Set.of(Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.UNTESTED);

    private final List<Seen> seen = new ArrayList<>(); // guarded by this

    private record Seen(String in, Finding finding) {

        boolean isOf(Result result) {
            return finding.violation().roots().contains(result.requirement().id())
                    && (result.variant().isEmpty() || result.variant().equals(Verdicts.variant(finding.service())));
        }
    }

    /** Adds what was seen in the check of a result. */
    synchronized void add(Result result, List<Finding> findings) {
        if (SOUND.contains(result.verdict())) {
            String in = result.requirement().id();
            findings.forEach(finding -> seen.add(new Seen(in, finding)));
        }
    }

    /** Returns what breaks the requirement of a result in which nothing was broken. */
    synchronized Optional<Violation> of(Result result) {
        if (!SOUND.contains(result.verdict())) {
            return Optional.empty();
        }
        List<Seen> all = seen.stream().filter(one -> one.isOf(result)).toList();
        return all.stream()
                .min(Comparator.comparing(one -> one.finding().violation().isMinor()))
                .map(one -> one.finding()
                        .violation()
                        .with("; seen in %d answers, first in the check of %s".formatted(all.size(), one.in())));
    }
}
