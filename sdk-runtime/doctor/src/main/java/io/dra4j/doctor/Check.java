// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

/** Checks one thing that may be wrong; reads, and changes nothing. */
public interface Check {

    /** The name of the check and of its findings, such as {@code cdi-disabled}. */
    String id();

    /**
     * Runs the check.
     *
     * @throws NotCheckedException if it can't run, because it lacks a right, a file, or an answer
     */
    CheckResult look();
}
