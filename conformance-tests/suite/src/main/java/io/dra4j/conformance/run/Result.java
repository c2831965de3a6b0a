// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.Measured;
import io.dra4j.conformance.requirements.Requirement;
import java.time.Duration;
import java.util.List;

/**
 * The result of one requirement, in one version of the service.
 *
 * @param variant {@code v1} or {@code v1beta1}; empty if it is checked once
 * @param message what was seen, or why it was not checked; empty for a pass
 * @param blockedBy the id of the requirement whose failure leaves it without an answer: the first
 * cause, if several block each other; empty if it is not blocked, or blocked by none
 */
public record Result(
        Requirement requirement,
        String variant,
        Verdict verdict,
        String message,
        Duration took,
        Evidence evidence,
        List<Measured> measurements,
        String blockedBy) {

    public Result {
        measurements = List.copyOf(measurements);
    }

    public Result(
            Requirement requirement,
            String variant,
            Verdict verdict,
            String message,
            Duration took,
            Evidence evidence) {
        this(requirement, variant, verdict, message, took, evidence, List.of(), "");
    }

    /** A stable name for references, for example {@code node-core.DRA-PREP-03[v1]}. */
    public String name() {
        return requirement.profile() + "." + requirement.id() + (variant.isEmpty() ? "" : "[" + variant + "]");
    }

    Result blockedBy(String cause) {
        return new Result(requirement, variant, verdict, message, took, evidence, measurements, cause);
    }

    public Result with(Verdict other, String text) {
        return new Result(requirement, variant, other, text, took, evidence, measurements, blockedBy);
    }
}
