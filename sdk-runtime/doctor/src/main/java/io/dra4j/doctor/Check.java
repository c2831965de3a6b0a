// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

/** Looks at one thing that may be wrong; reads, and changes nothing. */
public interface Check {

    /** The name of the check and of its findings, such as {@code cdi-disabled}. */
    String id();

    /**
     * Looks.
     *
     * @throws NotCheckedException if it can't: for lack of a right, a file, or an answer
     */
    CheckResult look();
}
