// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.requirements;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * One rule that drivers are held to. Texts that do not apply are empty, never null.
 *
 * @param id for example {@code DRA-PREP-05}; never given to another rule
 * @param level what a violation weighs
 * @param profile the name of the profile that it belongs to
 * @param rule the rule itself, in whole sentences
 * @param reading why the suite reads the upstream text more strictly than its wording, where it does
 * @param source where the rule comes from, so that a person can look it up
 * @param gates all of which have to be there for the rule to be applicable
 * @param anyGates one of which has to be there, if there are any
 * @param test what the suite does and checks
 * @param observability the certainty that a pass gives
 * @param untested why there is no check
 * @param needs ids of requirements whose failure leaves this one without an answer
 * @param since the first Kubernetes version that it applies to, for example {@code 1.36}
 * @param until the last one
 * @param strictMust whether a strict run treats this SHOULD as a MUST
 * @param perService whether it is checked with each DRA service that the driver declares
 * @param hint where drivers go wrong, and what to do
 */
public record Requirement(
        String id,
        Level level,
        String profile,
        String rule,
        String reading,
        String source,
        Set<Applicability> gates,
        Set<Applicability> anyGates,
        String test,
        Observability observability,
        String untested,
        List<String> needs,
        String since,
        String until,
        boolean strictMust,
        boolean perService,
        String hint) {

    private static final Pattern ID = Pattern.compile("DRA-([A-Z]+)-[0-9]{2}");
    private static final Pattern VERSION = Pattern.compile("(1\\.[0-9]+)?");

    public Requirement {
        require(ID.matcher(id).matches(), "an id looks like DRA-PREP-05, not like " + id);
        Objects.requireNonNull(level, "level is missing");
        gates = Collections.unmodifiableSet(new TreeSet<>(gates));
        anyGates = Collections.unmodifiableSet(new TreeSet<>(anyGates));
        needs = List.copyOf(needs);
        require(!rule.isEmpty() && !source.isEmpty(), "rule and source are required");
        require(
                untested.isEmpty() == (observability != Observability.UNTESTED),
                "untested is required for an untested requirement, and not allowed for any other");
        require(
                VERSION.matcher(since).matches() && VERSION.matcher(until).matches(),
                "since and until are Kubernetes versions such as 1.36");
        require(!strictMust || level == Level.SHOULD, "strictMust is for a SHOULD");
    }

    /** Returns the id that people may shorten, for example {@code DRA-PREP-05} for {@code prep-05}. */
    public static String fullId(String shortened) {
        String upper = shortened.toUpperCase(Locale.ROOT);
        return upper.startsWith("DRA-") ? upper : "DRA-" + upper;
    }

    /** The middle of the id, for example {@code PREP}. */
    public String area() {
        return id.substring(4, id.length() - 3);
    }

    @Override
    public String toString() {
        return id;
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
