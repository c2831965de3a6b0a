// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A driver with a fault: the class replaces a part of the bare driver, its supertype names it. The
 * suite catches it if each {@link Violation} is found, and no other requirement fails. Without one,
 * a test of its own runs the suite on it.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface Mutant {

    /** A number, with a letter where it has several forms. */
    String id();

    /** The fault. */
    String what();

    /** More parts that are replaced. */
    Class<?>[] with() default {};

    /** Other requirements that may fail with it. */
    String[] collateral() default {};

    /**
     * True if the whole suite finds it for a reason that depends on what was tried before: slices
     * or claims that an earlier requirement left, for example. Its own requirements alone always
     * find the reason that is expected.
     */
    boolean reasonVaries() default false;

    /** More options of the driver. */
    String[] options() default {};

    /** More capabilities that the suite's settings declare. */
    String[] declares() default {};

    /** The release of the API server. */
    String kubernetes() default "1.36";

    /** True if only a process shows the fault, not a driver in the JVM of the suite. */
    boolean process() default false;

    /** Less than 1 where the suite waits for what the driver never does. */
    double timeoutFactor() default 1;

    /** The smallest build that includes it. */
    Build from() default Build.FULL;
}
