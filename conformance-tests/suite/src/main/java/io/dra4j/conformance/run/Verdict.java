// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

/** The outcome of a requirement. */
public enum Verdict {
    /** The rule holds. */
    PASS,
    /** A MUST does not hold. */
    FAIL,
    /** A SHOULD does not hold. */
    WARN,
    /** A MAY does not hold, which is not a fault. */
    INFO,
    /** The driver does not have, or its vendor does not declare, what it is about. */
    NOT_APPLICABLE,
    /** Another requirement that it needs does not hold. */
    BLOCKED,
    /** The suite has no check, or this run lacks the means for it: a hook, a permission, a device. */
    UNTESTED,
    /** The settings leave it out. */
    SKIPPED,
    /** The rule does not hold, as the vendor has declared. */
    DEVIATION,
    /** The suite itself failed. */
    SUITE_ERROR;

    /** Returns whether those that need the requirement have no answer. */
    boolean blocks() {
        return this == FAIL || this == BLOCKED || this == SUITE_ERROR || this == DEVIATION;
    }
}
