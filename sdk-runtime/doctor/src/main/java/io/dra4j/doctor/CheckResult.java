// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import java.util.List;

/**
 * An answer of a check: a fact if nothing is wrong, findings otherwise.
 *
 * @param fact a few words on what was checked, such as {@code v1.36.0 serves resource.k8s.io/v1}
 * @param findings what is wrong; empty if nothing is
 */
public record CheckResult(String fact, List<Finding> findings) {

    public CheckResult {
        findings = List.copyOf(findings);
    }

    /** Returns a result without findings. */
    public static CheckResult healthy(String fact) {
        return new CheckResult(fact, List.of());
    }

    /** Returns a result with a finding. */
    public static CheckResult found(Finding finding) {
        return new CheckResult("", List.of(finding));
    }

    /** Returns findings; the fact is the number of items that were checked. */
    public static CheckResult of(List<Finding> findings, long looked, String noun) {
        return new CheckResult(number(looked, noun), findings);
    }

    /** Formats a number of things in a fact, such as {@code 2 nodes}. */
    public static String number(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
