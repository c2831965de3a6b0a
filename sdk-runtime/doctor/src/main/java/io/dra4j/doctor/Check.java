// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import java.util.function.Supplier;

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

    /** Returns a check with an id. */
    static Check of(String id, Supplier<CheckResult> look) {
        return new Check() {
            @Override
            public String id() {
                return id;
            }

            @Override
            public CheckResult look() {
                return look.get();
            }
        };
    }
}
