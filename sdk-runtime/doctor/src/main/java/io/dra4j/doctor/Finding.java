// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor;

import java.util.List;

/**
 * Something that is wrong, why it matters, and how to fix it.
 *
 * @param id the id of the check that found it, such as {@code cdi-disabled}; the documentation lists it
 * @param severity how severe it is
 * @param object what it is about, such as {@code node/gpu-1} or a file
 * @param what the fact, in a sentence
 * @param why what fails because of it
 * @param fix commands, or lines that begin with {@code #} for steps without a command
 */
public record Finding(String id, Severity severity, String object, String what, String why, List<String> fix) {

    public Finding {
        fix = List.copyOf(fix);
        if (id.isEmpty() || object.isEmpty() || what.isEmpty() || why.isEmpty() || fix.isEmpty()) {
            throw new IllegalArgumentException("A part of the finding is empty: " + id + object);
        }
    }

    /** Identifies the finding: its text may change from one look to the next. */
    String key() {
        return id + " " + object;
    }
}
