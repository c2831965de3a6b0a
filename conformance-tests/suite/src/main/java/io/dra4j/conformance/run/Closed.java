// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.Unpublished;
import io.dra4j.conformance.requirements.Applicability;
import java.util.List;

/**
 * A gate that is not open, or another reason why a requirement is not checked.
 *
 * @param verdict the verdict of a requirement behind it: not applicable where the driver does not
 *     have or declare what the gate is about, untested where this run lacks the means to check it, and
 *     blocked where a failure of the driver hides it
 * @param reason why it is closed
 * @param by the id of the requirement that blocks it; empty if none does
 */
record Closed(Verdict verdict, String reason, String by) {

    Closed(Verdict verdict, String reason) {
        this(verdict, reason, "");
    }

    /** The order in which closed gates decide, if several are: a driver that lacks something is not blocked. */
    private static final List<Verdict> ORDER = List.of(Verdict.NOT_APPLICABLE, Verdict.UNTESTED, Verdict.BLOCKED);

    /** A closed gate without further details. */
    static Closed usually(Applicability gate) {
        return new Closed(gate.isMeans() ? Verdict.UNTESTED : Verdict.NOT_APPLICABLE, gate.otherwise());
    }

    /** A gate about missing devices. */
    static Closed by(Unpublished unpublished) {
        return new Closed(
                Verdict.BLOCKED, String.valueOf(unpublished.blocked().getMessage()), unpublished.requirement());
    }

    int order() {
        return ORDER.indexOf(verdict);
    }

    /** Combines two alternative gates: the result is closed only if both are. */
    Closed or(Closed other) {
        Verdict both = order() > other.order() ? verdict : other.verdict;
        return new Closed(both, reason + ", and " + other.reason, by.isEmpty() ? other.by : by);
    }
}
