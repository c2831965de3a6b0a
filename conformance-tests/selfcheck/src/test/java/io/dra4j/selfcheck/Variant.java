// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A conforming variant: a driver that is unusual and violates nothing. The class replaces a part of
 * the bare driver, its supertype names it. A {@link Violation} is one that it is rightly warned of.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface Variant {

    /** A number, with a letter where it has several forms. */
    String id();

    /** The way in which it is unusual. */
    String what();

    /** More parts that are replaced. */
    Class<?>[] with() default {};

    /** Requirements that a suite with a narrower view would find violated. */
    String[] passes();

    /** Requirements that do not apply to it. */
    String[] notApplicable() default {};

    /** Requirements that its settings leave no room to test. */
    String[] untested() default {};

    /** More options of the driver. */
    String[] options() default {};

    /** More settings of the suite: YAML, by JSON pointer. */
    String settings() default "{}";

    /** True if it is run as a process: its settings are those of processes. */
    boolean process() default false;

    /** True if its process needs a mount namespace, which root alone can make. */
    boolean namespace() default false;

    /** True if it is so slow that the control requirements are not tried with it. */
    boolean slow() default false;

    /** True if the whole core suite is run on it, too. */
    boolean core() default true;

    /** The smallest build that includes it. */
    Build from() default Build.PLAIN;
}
