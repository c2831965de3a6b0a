// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A group of rules: those of one group run one after another on one test context, different groups at the same time,
 * each on its own test context.
 */
public enum ExecutionGroup {
    /** Calls to a driver that is otherwise undisturbed. */
    CALLS,
    /** Calls while the API server, file systems or clients misbehave. */
    FAULTS,
    /** Connections to the API server that go silent, and its certificates. */
    CONNECTIONS,
    /** Published slices, and changes to them. */
    SLICES,
    /** Start, stop and kill. */
    RESTARTS,
    /** Two instances, health, and the other optional profiles. */
    OPTIONAL,
    /** Long observations of an undisturbed driver. */
    QUIET;

    /** The execution group of the rules of a class, or of one of its methods. */
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.TYPE, ElementType.METHOD})
    @interface On {
        ExecutionGroup value();
    }
}
