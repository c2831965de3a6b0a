// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A part of a {@link Mutant} or a {@link Variant}: the class replaces a part of the bare driver, its supertype names it.
 * Where a few {@link Answers} say it all, the driver has them in its file instead.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface Altered {

    /** The ids, in {@code mutants.yaml} or {@code variants.yaml}, of the drivers that are made so. */
    String[] id();

    /** More parts that are replaced. */
    Class<?>[] with() default {};
}
